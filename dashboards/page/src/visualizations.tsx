// SPDX-License-Identifier: Apache-2.0

import { type DataFrame, type FieldDisplay, getFieldDisplayValues, type TimeRange, VizOrientation } from '@grafana/data';
import { BarGauge, BigValue, TimeSeries, VizRepeater } from '@grafana/ui';
import type { ReactElement } from 'react';
import type { Panel } from './dashboard';
import type { Point } from './exemplars';
import { theme } from './frames';
import { Points } from './Points';

export interface Picture {
  panel: Panel;
  frames: DataFrame[];
  // points are measurements that lead to traces.
  points: Point[];
  range: TimeRange;
  width: number;
  height: number;
}

// visualizations draw the panels of each type.
export const visualizations: Partial<Record<string, (picture: Picture) => ReactElement>> = {
  bargauge: BarGauges,

  stat: Stats,
  timeseries: Graph,
};

function Graph({ panel, frames, points, range, width, height }: Picture): ReactElement {
  return (
    <TimeSeries frames={frames} timeRange={range} timeZone="browser" width={width} height={height} legend={panel.options?.legend}>
      {(config) => <Points config={config} points={points} />}
    </TimeSeries>
  );
}

function Stats({ panel, frames, width, height }: Picture): ReactElement {
  const options = panel.options ?? {};
  const sparkline = options.graphMode !== 'none';
  const values = () => displayed(panel, frames, sparkline);
  return (
    <VizRepeater
      source={frames} getValues={values} renderCounter={0} autoGrid
      width={width} height={height} orientation={VizOrientation.Auto}
      renderValue={({ value, width, height, count }) => (
        <BigValue
          theme={theme} width={width} height={height} count={count} value={value.display}
          sparkline={sparkline ? value.sparkline : undefined}
          colorMode={options.colorMode} graphMode={options.graphMode} justifyMode={options.justifyMode} textMode={options.textMode}
        />
      )}
    />
  );
}

function BarGauges({ panel, frames, width, height }: Picture): ReactElement {
  const options = panel.options ?? {};
  return (
    <VizRepeater
      source={frames} getValues={() => displayed(panel, frames, false)} renderCounter={0}
      width={width} height={height} orientation={options.orientation}
      minVizHeight={options.minVizHeight} maxVizHeight={options.maxVizHeight}
      renderValue={({ value, width, height }) => (
        <BarGauge
          theme={theme} width={width} height={height} value={value.display} field={value.field}
          display={value.view?.getFieldDisplayProcessor(value.colIndex ?? 0)} text={options.text}
          orientation={options.orientation} displayMode={options.displayMode} showUnfilled={options.showUnfilled}
        />
      )}
    />
  );
}

function displayed(panel: Panel, frames: DataFrame[], sparkline: boolean): FieldDisplay[] {
  return getFieldDisplayValues({
    fieldConfig: panel.fieldConfig ?? { defaults: {}, overrides: [] },
    reduceOptions: panel.options?.reduceOptions,
    replaceVariables: (text) => text,
    theme, data: frames, sparkline, timeZone: 'browser',
  });
}
