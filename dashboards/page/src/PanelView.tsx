// SPDX-License-Identifier: Apache-2.0

import { type DataFrame, dateTime } from '@grafana/data';
import { PanelChrome } from '@grafana/ui';
import { type ReactElement, useEffect, useState } from 'react';
import { milliseconds, type Panel, type Target } from './dashboard';
import { largest, type Point, points } from './exemplars';
import { configure, frames } from './frames';
import type { Prometheus } from './prometheus';
import { type Choices, intervals, substitute } from './variables';
import { visualizations } from './visualizations';

// View is what a panel is shown of.
export interface View {
  prometheus: Prometheus;
  values: Choices;
  from: number;
  to: number;
}

interface Answer {
  frames: DataFrame[];
  points: Point[];
  // view is what the frames are of: what is asked for next may be another.
  view: View;
  error?: string;
}

export function PanelView({ panel, view, width, height }: { panel: Panel; view: View; width: number; height: number }): ReactElement {
  const [answer, setAnswer] = useState<Answer>();
  useEffect(() => {
    let wanted = true;
    ask(panel, view, width).then(
      (answer) => wanted && setAnswer({ ...answer, view }),
      (error) => wanted && setAnswer({ frames: [], points: [], view, error: String(error.message ?? error) }),
    );
    return () => { wanted = false; };
  }, [panel, view, width]);

  const Visualization = visualizations[panel.type];
  const state = stateOf(answer, !!Visualization);
  return (
    <div data-panel={panel.title} data-state={state}>
      <PanelChrome title={panel.title} description={panel.description} width={width} height={height} statusMessage={answer?.error}>
        {(width, height) => {
          if (!answer?.frames.length || !Visualization) {
            return <p style={{ textAlign: 'center' }}>{state}</p>;
          }
          const [from, to] = [dateTime(answer.view.from), dateTime(answer.view.to)];
          const range = { from, to, raw: { from, to } };
          return (
            <Visualization panel={panel} frames={answer.frames} points={answer.points} range={range} width={width} height={height} />
          );
        }}
      </PanelChrome>
    </div>
  );
}

// stateOf says what a panel shows, or why it shows nothing.
function stateOf(answer: Answer | undefined, canBeDrawn: boolean): string {
  if (!canBeDrawn) {
    return 'no visualization of this type';
  }
  if (!answer) {
    return 'asking';
  }
  return answer.error ?? (answer.frames.length ? 'shown' : 'no data');
}

// ask has the queries of a panel answered, with a value for every other pixel.
async function ask(panel: Panel, view: View, width: number): Promise<Pick<Answer, 'frames' | 'points'>> {
  const range = view.to - view.from;
  const answer = async (target: Target) => {
    const scrapeInterval = milliseconds(substitute(target.interval ?? '15s', view.values));
    const step = Math.max(scrapeInterval, Math.ceil((2 * range) / width / 1000) * 1000);
    const query = substitute(target.expr, { ...view.values, ...intervals(range, step, scrapeInterval) });
    const series = target.instant
      ? view.prometheus.instant(query, view.to)
      : view.prometheus.range(query, Math.floor(view.from / step) * step, view.to, step);
    const exemplars = target.exemplar ? view.prometheus.exemplars(query, view.from, view.to) : [];
    return { frames: frames(target, await series, step), points: points(panel, target, await exemplars) };
  };
  const answers = await Promise.all((panel.targets ?? []).map(answer));
  return {
    frames: configure(answers.flatMap(({ frames }) => frames), panel),
    points: largest(answers.flatMap(({ points }) => points), range, width),
  };
}
