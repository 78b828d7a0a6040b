// SPDX-License-Identifier: Apache-2.0

// A client of the API of Prometheus where the page is.

export interface Series {
  metric: Record<string, string>;
  values: Array<[number, string]>;
}

// Exemplified are the exemplars of a series.
export interface Exemplified {
  seriesLabels: Record<string, string>;
  exemplars: Exemplar[];
}

export interface Exemplar {
  labels: Record<string, string>;
  value: string;
  // timestamp is in seconds.
  timestamp: number;
}

export class Prometheus {
  // range evaluates an expression between two times, every step milliseconds.
  async range(query: string, from: number, to: number, step: number): Promise<Series[]> {
    const parameters = { query, start: seconds(from), end: seconds(to), step: seconds(step) };
    return (await this.get<{ result: Series[] }>('query_range', parameters)).result;
  }

  // instant evaluates an expression at a time.
  async instant(query: string, time: number): Promise<Series[]> {
    type Sample = { metric: Record<string, string>; value: [number, string] };
    const data = await this.get<{ result: Sample[] }>('query', { query, time: seconds(time) });
    return data.result.map(({ metric, value }) => ({ metric, values: [value] }));
  }

  // exemplars are those of the series that an expression is about.
  exemplars(query: string, from: number, to: number): Promise<Exemplified[]> {
    return this.get('query_exemplars', { query, start: seconds(from), end: seconds(to) });
  }

  // labelValues are the values of a label among the series that a selector chooses.
  labelValues(label: string, selector: string, from: number, to: number): Promise<string[]> {
    return this.get(`label/${label}/values`, { 'match[]': selector, start: seconds(from), end: seconds(to) });
  }

  private async get<Data>(path: string, parameters: Record<string, string>): Promise<Data> {
    const response = await fetch(`api/v1/${path}?${new URLSearchParams(parameters)}`);
    const answer = await response.json();
    if (answer.status !== 'success') {
      throw new Error(answer.error);
    }
    return answer.data;
  }
}

const seconds = (milliseconds: number) => String(milliseconds / 1000);
