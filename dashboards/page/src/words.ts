// SPDX-License-Identifier: Apache-2.0

import type { Whole } from './chain';

// number is a number in groups of three digits; what is not exact says so.
export const number = (value: Whole) => {
  if (typeof value === 'bigint') {
    return value.toLocaleString('en');
  }
  const whole = Math.round(value);
  return (Number.isSafeInteger(whole) ? '' : 'about ') + whole.toLocaleString('en');
};

// plural is a number of things.
export const plural = (value: Whole, thing: string) => `${number(value)} ${thing}${value === 1 ? '' : 's'}`;

// short is the beginning of a hash or an account, where many are.
export const short = (hash: string) => `${hash.slice(0, 8)}…`;
