// SPDX-License-Identifier: Apache-2.0

// As much of a Grafana dashboard as the page shows.

import type { FieldConfigSource } from '@grafana/data';

export interface Dashboard {
  title: string;
  panels: Panel[];
  templating: { list: Variable[] };
}

export interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: Target[];
  options?: Record<string, any>;
  fieldConfig?: FieldConfigSource<any>;
}

export interface Target {
  refId: string;
  expr: string;
  legendFormat?: string;
  // interval is the least time between two values.
  interval?: string;
  instant?: boolean;
  // exemplar asks for single measurements that lead to traces as well.
  exemplar?: boolean;
}

export interface Variable {
  name: string;
  label?: string;
  type: string;
  query: string;
  includeAll?: boolean;
  allValue?: string;
}

const units: Record<string, number> = { ms: 1, s: 1_000, m: 60_000, h: 3_600_000, d: 86_400_000 };

// milliseconds reads a duration such as 30m.
export function milliseconds(duration: string): number {
  const parts = /^(\d+)(ms|[smhd])$/.exec(duration);
  if (!parts) {
    throw new Error(`not a duration: ${duration}`);
  }
  return Number(parts[1]) * units[parts[2]];
}
