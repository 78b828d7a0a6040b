// SPDX-License-Identifier: Apache-2.0

import { Field, Icon, Select } from '@grafana/ui';
import { type ReactElement, useEffect, useMemo, useState } from 'react';
import { type Dashboard, milliseconds, type Panel } from './dashboard';
import { theme } from './frames';
import { PanelView } from './PanelView';
import type { Prometheus } from './prometheus';
import { all, type Choices, choice, chosen, type Offer, offers } from './variables';

const columns = 24;
const cell = 30;
const gap = 8;
// narrow is the width below which panels are one below the other.
const narrow = 700;
const ranges = ['1m', '5m', '15m', '30m', '1h', '6h'];

// Settings are what the page's address says.
export interface Settings {
  prometheus: Prometheus;
  // refresh is how often the page asks.
  refresh: number;
  // range is how far the page looks back.
  range: number;
  // choices are the values of variables to begin with.
  choices: Choices;
}

export function Page({ dashboard, settings }: { dashboard: Dashboard; settings: Settings }): ReactElement {
  const to = useClock(settings.refresh);
  const width = useWidth() - 2 * gap;
  const [choices, setChoices] = useState(settings.choices);
  const [offered, setOffered] = useState<Offer[]>();
  const [error, setError] = useState<string>();

  const { prometheus } = settings;
  const [range, setRange] = useState(settings.range);
  const from = to - range;
  useEffect(() => {
    let wanted = true;
    offers(dashboard.templating.list, choices, prometheus, from, to).then(
      (offered) => { if (wanted) { setOffered(offered); setError(undefined); } },
      (error) => { if (wanted) { setError(`Prometheus does not answer: ${error.message}`); } },
    );
    return () => { wanted = false; };
  }, [dashboard, choices, prometheus, from, to]);
  const view = useMemo(
    () => offered && { prometheus, values: chosen(offered, choices), from, to },
    [offered, choices, prometheus, from, to],
  );

  const places = layout(dashboard.panels, width);
  const rows = Math.max(...places.map(({ y, h }) => y + h));
  return (
    <section style={{ padding: gap, color: theme.colors.text.primary }} aria-label={dashboard.title}>
      <header style={{ display: 'flex', flexWrap: 'wrap', gap: 2 * gap, justifyContent: 'end', marginBottom: gap }}>
        <Field label="Last" noMargin>
          <Select
            width="auto" inputId="last" aria-label="Last"
            options={ranges.map((label) => ({ label, value: milliseconds(label) }))}
            value={range}
            onChange={({ value }) => setRange(value ?? settings.range)}
          />
        </Field>
        {offered?.filter(({ values }) => values.join() !== all).map((offer) => (
          <Choice key={offer.variable.name} offer={offer} choices={choices} choose={setChoices} />
        ))}
      </header>
      {error && <p role="alert">{error}</p>}
      <div style={{ position: 'relative', height: rows * (cell + gap) }}>
        {view && dashboard.panels.map((panel, i) => {
          const { x, y, w, h } = places[i];
          const place = { position: 'absolute', left: (x * (width + gap)) / columns, top: y * (cell + gap) } as const;
          return (
            <div key={panel.id} style={place}>
              {panel.type === 'row'
                ? <h5 style={{ lineHeight: `${cell}px`, margin: 0 }}><Icon name="angle-down" /> {panel.title}</h5>
                : <PanelView panel={panel} view={view} width={(w * (width + gap)) / columns - gap} height={h * (cell + gap) - gap} />}
            </div>
          );
        })}
      </div>
    </section>
  );
}

// layout is where panels are: where the dashboard says, or one below the other where there is no room for two.
function layout(panels: Panel[], width: number): Panel['gridPos'][] {
  if (width >= narrow) {
    return panels.map(({ gridPos }) => gridPos);
  }
  let y = 0;
  return panels.map(({ gridPos: { h } }) => {
    const place = { x: 0, y, w: columns, h };
    y += h;
    return place;
  });
}

// Choice lets a user choose the value of a variable.
function Choice({ offer, choices, choose }: {
  offer: Offer; choices: Choices; choose: (choices: Choices) => void;
}): ReactElement {
  const { name, label } = offer.variable;
  return (
    <Field label={label ?? name} noMargin>
      <Select
        width="auto" inputId={name} aria-label={label ?? name}
        options={offer.values.map((value) => ({ label: value, value }))}
        value={choice(offer, choices)}
        onChange={({ value }) => choose({ ...choices, [name]: value ?? '' })}
      />
    </Field>
  );
}

// useClock is the time, every so many milliseconds while somebody looks.
function useClock(interval: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const tick = () => { if (!document.hidden) { setNow(Date.now()); } };
    const timer = setInterval(tick, interval);
    document.addEventListener('visibilitychange', tick);
    return () => { clearInterval(timer); document.removeEventListener('visibilitychange', tick); };
  }, [interval]);
  return now;
}

// useWidth is the width of the window.
function useWidth(): number {
  const [width, setWidth] = useState(document.documentElement.clientWidth);
  useEffect(() => {
    const resized = () => setWidth(document.documentElement.clientWidth);
    window.addEventListener('resize', resized);
    return () => window.removeEventListener('resize', resized);
  }, []);
  return width;
}
