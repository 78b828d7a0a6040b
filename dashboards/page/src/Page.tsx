// SPDX-License-Identifier: Apache-2.0

import { Field, Icon, Select } from '@grafana/ui';
import { type ReactElement, useEffect, useMemo, useState } from 'react';
import { type Dashboard, milliseconds } from './dashboard';
import { theme } from './frames';
import { PanelView } from './PanelView';
import type { Prometheus } from './prometheus';
import { type Choices, choice, chosen, type Offer, offers } from './variables';

const columns = 24;
const cell = 30;
const gap = 8;

// Settings are what the page's address says.
export interface Settings {
  prometheus: Prometheus;
  // range is how far the page looks back.
  range: number;
  // choices are the values of variables to begin with.
  choices: Choices;
}

export function Page({ dashboard, settings }: { dashboard: Dashboard; settings: Settings }): ReactElement {
  const to = useClock(milliseconds(dashboard.refresh));
  const width = useWidth() - 2 * gap;
  const [choices, setChoices] = useState(settings.choices);
  const [offered, setOffered] = useState<Offer[]>();
  const [error, setError] = useState<string>();

  const { prometheus, range } = settings;
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

  const rows = Math.max(...dashboard.panels.map(({ gridPos }) => gridPos.y + gridPos.h));
  return (
    <main style={{ minHeight: '100vh', padding: gap, background: theme.colors.background.canvas, color: theme.colors.text.primary }}>
      <header style={{ display: 'flex', gap: 2 * gap, alignItems: 'end' }}>
        <h3 style={{ flexGrow: 1 }}>{dashboard.title}</h3>
        {offered?.map((offer) => (
          <Choice key={offer.variable.name} offer={offer} choices={choices} choose={setChoices} />
        ))}
      </header>
      {error && <p role="alert">{error}</p>}
      <div style={{ position: 'relative', height: rows * (cell + gap) }}>
        {view && dashboard.panels.map((panel) => {
          const { x, y, w, h } = panel.gridPos;
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
    </main>
  );
}

// Choice lets a user choose the value of a variable.
function Choice({ offer, choices, choose }: {
  offer: Offer; choices: Choices; choose: (choices: Choices) => void;
}): ReactElement {
  const { name, label } = offer.variable;
  return (
    <Field label={label ?? name} noMargin>
      <Select
        width="auto" inputId={name}
        options={offer.values.map((value) => ({ label: value, value }))}
        value={choice(offer, choices)}
        onChange={({ value }) => choose({ ...choices, [name]: value ?? '' })}
      />
    </Field>
  );
}

// useClock is the time, every so many milliseconds.
function useClock(interval: number): number {
  const [now, setNow] = useState(Date.now());
  useEffect(() => {
    const timer = setInterval(() => setNow(Date.now()), interval);
    return () => clearInterval(timer);
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
