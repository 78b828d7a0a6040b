// SPDX-License-Identifier: Apache-2.0

// Bundles the page and the dashboards that it shows into dist/.
import { build } from 'esbuild';
import { copyFile, mkdir, readdir } from 'node:fs/promises';
import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);
const dist = new URL('dist/', import.meta.url);
await mkdir(dist, { recursive: true });

// The ES build of Grafana's components imports React as Node.js would, and finds no default export. Components and data
// share a theme only if all of them come from the same build.
const oneBuild = {
  name: 'one build of Grafana',
  setup: ({ onResolve }) => onResolve({ filter: /^@grafana\/(data|ui)/ }, ({ path }) => ({ path: require.resolve(path) })),
};

await build({
  entryPoints: ['src/main.tsx'],
  outfile: new URL('page.js', dist).pathname,
  absWorkingDir: new URL('.', import.meta.url).pathname,
  bundle: true,
  format: 'esm',
  minify: true,
  jsx: 'automatic',
  target: 'es2022',
  define: { 'process.env.NODE_ENV': '"production"', global: 'window' },
  loader: { '.png': 'dataurl', '.svg': 'text', '.ttf': 'dataurl', '.woff2': 'dataurl' },
  plugins: [oneBuild],
  logLevel: 'warning',
});

await copyFile(new URL('index.html', import.meta.url), new URL('index.html', dist));
const dashboards = new URL('../', import.meta.url);
for (const name of await readdir(dashboards)) {
  if (name.endsWith('.json')) {
    await copyFile(new URL(name, dashboards), new URL(name, dist));
  }
}
