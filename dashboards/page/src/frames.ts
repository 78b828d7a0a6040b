// SPDX-License-Identifier: Apache-2.0

// Turns what Prometheus answers into what Grafana's components draw.

import {
  createTheme, type DataFrame, type Field, FieldColorModeId, type FieldConfig, FieldType, formattedValueToString, getDisplayProcessor,
  toDataFrame,
} from '@grafana/data';
import type { Panel, Target } from './dashboard';
import type { Series } from './prometheus';

// theme is Grafana's with the fonts of whoever looks, so that none has to be fetched.
export const theme = createTheme({
  typography: { fontFamily: 'system-ui, sans-serif', fontFamilyMonospace: 'ui-monospace, monospace' },
  colors: { mode: window.matchMedia('(prefers-color-scheme: light)').matches ? 'light' : 'dark' },
});

// frames has one frame for each series of an answer.
export function frames(target: Target, answer: Series[], step: number): DataFrame[] {
  return answer.map(({ metric, values }) => {
    const displayNameFromDS = legend(target, metric);
    return toDataFrame({
      refId: target.refId,
      name: displayNameFromDS,
      fields: [
        { name: 'Time', type: FieldType.time, values: values.map(([time]) => time * 1000), config: { interval: step } },
        {
          name: 'Value', type: FieldType.number, labels: metric, values: values.map(([, value]) => numberOrNone(value)),
          config: { displayNameFromDS },
        },
      ],
    });
  });
}

// numberOrNone is null for what is no number, such as a mean of nothing: a graph with one in it would have no scale.
function numberOrNone(value: string): number | null {
  const read = Number(value);
  return Number.isNaN(read) ? null : read;
}

// legend is what a target calls a series.
export function legend(target: Target, metric: Record<string, string>): string {
  return (target.legendFormat ?? '').replace(/\{\{\s*(\w+)\s*\}\}/g, (_, label) => metric[label] ?? '');
}

// configure applies a panel's settings to the values in frames.
export function configure(frames: DataFrame[], panel: Panel): DataFrame[] {
  const fields = frames.flatMap((frame) => frame.fields.filter((field) => field.type === FieldType.number));
  const values = fields.flatMap((field) => field.values.filter(Number.isFinite));
  const range = { min: Math.min(...values), max: Math.max(...values) };
  fields.forEach((field, seriesIndex) => {
    field.config = { ...config(panel), ...field.config };
    const min = field.config.min ?? range.min;
    const max = field.config.max ?? range.max;
    field.state = { seriesIndex, range: { min, max, delta: max - min } };
  });
  for (const field of frames.flatMap((frame) => frame.fields)) {
    field.display = display(field);
  }
  return frames;
}

// inUnit writes values in the unit of a panel.
export function inUnit(panel: Panel): (value: number) => string {
  const write = display({ name: 'Value', type: FieldType.number, values: [], config: config(panel) });
  return (value) => formattedValueToString(write(value));
}

const display = (field: Field) => getDisplayProcessor({ field, theme, timeZone: 'browser' });

function config(panel: Panel): FieldConfig {
  const defaults = structuredClone(panel.fieldConfig?.defaults ?? {});
  const mode = panel.type === 'timeseries' ? FieldColorModeId.PaletteClassic : FieldColorModeId.Thresholds;
  return {
    ...defaults,
    color: defaults.color ?? { mode },
    // The first step has no value in JSON, which has no infinity.
    thresholds: defaults.thresholds && {
      ...defaults.thresholds,
      steps: defaults.thresholds.steps.map((step) => ({ ...step, value: step.value ?? -Infinity })),
    },
    custom: { ...graphStyle, ...defaults.custom },
  };
}

// graphStyle is how Grafana draws a time series unless it is told otherwise.
const graphStyle = {
  drawStyle: 'line',
  lineInterpolation: 'linear',
  lineWidth: 1,
  fillOpacity: 0,
  gradientMode: 'none',
  showPoints: 'auto',
  spanNulls: false,
  axisPlacement: 'auto',
  axisLabel: '',
  stacking: { mode: 'none', group: 'A' },
  scaleDistribution: { type: 'linear' },
  hideFrom: { legend: false, tooltip: false, viz: false },
  thresholdsStyle: { mode: 'off' },
};
