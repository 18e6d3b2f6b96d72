import { expect, test } from 'vitest';
import { documentKinds } from '../model/product.ts';
import { helm } from './helm.ts';
import { at, refusal, render } from './render.ts';

const chart = 'charts/heddle-crds';

test('the chart of the CRDs passes the strict lint of helm', async () => {
  expect(await helm(['lint', chart, '--strict'])).toMatchObject({ code: 0 });
});

test('the chart of the CRDs has one for every kind with documents, and uninstalling leaves them (E73)', async () => {
  const manifests = await render({ chart });
  const kinds = manifests.map((manifest) => String(at(manifest, 'spec.names.kind')));
  expect(kinds.sort()).toEqual(documentKinds.map(({ name }) => name).sort());
  const annotations = new Set(manifests.map(({ metadata }) => JSON.stringify(metadata.annotations)));
  expect(annotations).toEqual(new Set(['{"helm.sh/resource-policy":"keep"}']));
});

test('the chart of the CRDs takes no values', async () => {
  expect(await refusal({ chart, over: { keep: false } })).toContain("additional properties 'keep' not allowed");
});
