import { readdirSync, readFileSync } from 'node:fs';
import { basename } from 'node:path';
import { parse } from 'yaml';
import { recipeText } from '../examples/recipes.ts';
import { at, only, type RenderOptions, readManifests } from './render.ts';

const files = readdirSync('test/charts/values').map((file) => basename(file, '.yaml'));
const flux = readManifests(recipeText('flux/heddle.yaml'));
const argocd = readManifests(recipeText('argocd/heddle.yaml'));

/** All sets of values for the chart in the tests and the examples, by name. */
export const valueSets: readonly (readonly [name: string, options: RenderOptions])[] = [
  ...files.map((name) => [name, { values: [name] }] as const),
  ['Flux', { over: Object(at(only(flux, 'HelmRelease'), 'spec.values')) }],
  ['Argo CD', { over: Object(at(only(argocd, 'Application'), 'spec.sources.0.helm.valuesObject')) }],
  ['CloudNativePG', { over: parse(readFileSync('examples/kubernetes/cloudnative-pg/values.yaml', 'utf8')) }],
];
