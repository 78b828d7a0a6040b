// SPDX-License-Identifier: Apache-2.0

import type { UPlotConfigBuilder } from '@grafana/ui';
import { type ReactElement, useLayoutEffect, useState } from 'react';
import type { Point } from './exemplars';
import { to } from './route';

// Plot is as much as this has to know of a graph that is drawn.
interface Plot {
  // bbox is where it is, in pixels of the screen.
  bbox: { left: number; top: number };
  scales: Record<string, { min?: number | null; max?: number | null }>;
  valToPos(value: number, scale: string): number;
}

// Points lies over a graph, with a link for each point.
export function Points({ config, points }: { config: UPlotConfigBuilder; points: Point[] }): ReactElement | null {
  const [drawn, setDrawn] = useState<{ plot: Plot }>();
  useLayoutEffect(() => { config.addHook('draw', (plot) => setDrawn({ plot })); }, [config]);
  const largest = Math.max(...points.map(({ value }) => value));
  const places = drawn ? place(drawn.plot) : undefined;
  if (!drawn || !places) {
    return null;
  }
  const { left, top } = drawn.plot.bbox;
  return (
    <div className="exemplars" style={{ left: left / devicePixelRatio, top: top / devicePixelRatio }}>
      {points.map((point) => (
        // With a keyboard, one gets to the largest.
        <a
          key={point.key} href={to('traces', point.height)} style={places(point)} tabIndex={point.value === largest ? 0 : -1}
          aria-label={point.says} title={`${point.says}\ntrace ${point.trace}`}
        />
      ))}
    </div>
  );
}

// place says where a graph has its points; undefined while it has nothing. What is beyond its scale is at the edge.
function place({ scales, valToPos }: Plot): ((point: Point) => { left: number; top: number }) | undefined {
  const scale = Object.keys(scales).find((name) => name !== 'x' && Number.isFinite(scales[name].min) && Number.isFinite(scales[name].max));
  if (!scale) {
    return undefined;
  }
  const { min, max } = scales[scale];
  return ({ time, value }) => ({
    left: valToPos(time, 'x'), top: valToPos(Math.min(Math.max(value, min ?? value), max ?? value), scale),
  });
}
