// SPDX-License-Identifier: Apache-2.0

// A dashboard's variables, and Grafana's own.

import type { Variable } from './dashboard';
import type { Prometheus } from './prometheus';

// Choices are the values of variables; absent, a variable has its first one.
export type Choices = Record<string, string>;

export interface Offer {
  variable: Variable;
  values: string[];
}

export const all = 'All';

// substitute replaces variables by their values.
export function substitute(text: string, values: Choices): string {
  return text.replace(/\$(?:\{(\w+)\}|(\w+))/g, (found, braced, plain) => values[braced ?? plain] ?? found);
}

// offers asks what each variable can be, given what is chosen for those before it.
export async function offers(
  list: Variable[], choices: Choices, prometheus: Prometheus, from: number, to: number,
): Promise<Offer[]> {
  const offers: Offer[] = [];
  for (const variable of list) {
    if (variable.type === 'custom') {
      const values = variable.query.split(',');
      const wanted = choices[variable.name];
      offers.push({ variable, values: !wanted || values.includes(wanted) ? values : [wanted, ...values] });
      continue;
    }
    const query = /^label_values\((.*), (\w+)\)$/.exec(variable.query);
    if (variable.type !== 'query' || !query) {
      continue;
    }
    const selector = substitute(query[1], chosen(offers, choices));
    const values = await prometheus.labelValues(query[2], selector, from, to);
    values.sort(new Intl.Collator('en', { numeric: true }).compare);
    offers.push({ variable, values: variable.includeAll ? [all, ...values] : values });
  }
  return offers;
}

// choice is the value of an offer that is chosen.
export function choice({ variable, values }: Offer, choices: Choices): string {
  return values.find((value) => value === choices[variable.name]) ?? values[0] ?? '';
}

// chosen are the values that stand for variables in queries.
export function chosen(offers: Offer[], choices: Choices): Choices {
  return Object.fromEntries(offers.map((offer) => {
    const value = choice(offer, choices);
    return [offer.variable.name, value === all ? (offer.variable.allValue ?? '.*') : value];
  }));
}

// intervals are Grafana's variables for a range in which a query has a value every step milliseconds.
export function intervals(range: number, step: number, scrapeInterval: number): Choices {
  return {
    __interval: `${step}ms`,
    __range: `${range}ms`,
    __rate_interval: `${Math.max(step + scrapeInterval, 4 * scrapeInterval)}ms`,
  };
}
