// SPDX-License-Identifier: Apache-2.0

// Single measurements of traced heights, which lead from a graph to what their blocks waited for.

import type { Panel, Target } from './dashboard';
import { inUnit, legend } from './frames';
import type { Exemplified } from './prometheus';

export interface Point {
  // key is the same for the same measurement.
  key: string;
  // time is in milliseconds.
  time: number;
  value: number;
  height: string;
  // says what it is, and trace is the trace's id.
  says: string;
  trace: string;
}

// points are the exemplars of an answer.
export function points(panel: Panel, target: Target, answer: Exemplified[]): Point[] {
  const written = inUnit(panel);
  return answer.flatMap(({ seriesLabels, exemplars }) => exemplars.map(({ labels, value, timestamp }) => {
    const { height, trace_id: trace } = labels;
    const { __name__: name, node } = seriesLabels;
    return {
      key: [name, node, height, timestamp].join(),
      time: timestamp * 1_000, value: Number(value), height, trace,
      says: `block ${height}: ${written(Number(value))} on ${node}, ${legend(target, seriesLabels)}`,
    };
  }));
}

// apart is how many pixels a graph has for each point.
const apart = 12;

// largest are so many points that each can be told from the next: in every part of the time, the one that is out of the
// ordinary. The parts stay the same while time goes by.
export function largest(points: Point[], range: number, width: number): Point[] {
  const part = Math.ceil((range * apart) / width / 1_000) * 1_000;
  const kept = new Map<number, Point>();
  for (const point of points) {
    const index = Math.floor(point.time / part);
    const other = kept.get(index);
    if (!other || point.value > other.value) {
      kept.set(index, point);
    }
  }
  return [...kept.values()].sort((a, b) => a.time - b.time);
}
