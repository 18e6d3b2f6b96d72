import { describe, expect, test } from 'vitest';
import { at, only, type RenderOptions, render } from './render.ts';
import { containerOf, namesIn, podOf } from './shape.ts';

const everything: RenderOptions = { values: ['everything'] };
const postgres = (over: object): RenderOptions => ({ values: ['postgres'], over });

describe('the pods', () => {
  test('have the configured containers before and beside the server', async () => {
    const pod = podOf(await render(everything));
    expect(namesIn(at(pod, 'initContainers'))).toEqual(['places']);
    expect(namesIn(at(pod, 'containers'))).toEqual(['git-proxy', 'heddle']);
    expect(at(pod, 'containers.0.name')).toBe('heddle');
  });

  test('may use another update strategy than one by one', async () => {
    const rollingUpdate = { maxSurge: 0, maxUnavailable: 1 };
    const deployment = only(await render(everything), 'Deployment');
    expect(at(deployment, 'spec.strategy')).toEqual({ type: 'RollingUpdate', rollingUpdate });
    const other = only(await render(postgres({ strategy: { type: 'Recreate' } })), 'Deployment');
    expect(at(other, 'spec.strategy')).toEqual({ type: 'Recreate' });
  });

  test('of the embedded database may be scaled to zero', async () => {
    const manifests = await render({ values: ['embedded'], over: { replicas: 0 } });
    expect(at(only(manifests, 'Deployment'), 'spec.replicas')).toBe(0);
  });
});

describe('a terminating pod', () => {
  const endOf = async (options: RenderOptions) => {
    const manifests = await render(options);
    return [at(containerOf(manifests), 'lifecycle'), at(podOf(manifests), 'terminationGracePeriodSeconds')];
  };
  const sleep = (seconds: string) => ({ preStop: { exec: { command: ['sleep', seconds] } } });

  test.each<[string, RenderOptions, readonly unknown[]]>([
    ['takes requests for a while, and gets time for both', postgres({}), [sleep('5'), 35]],
    ['may be given other times', everything, [sleep('15'), 90]],
    ['may end at once', postgres({ preStopSeconds: 0, server: { shutdownGraceSeconds: 60 } }), [undefined, 80]],
    ['ends at once when no other one takes its requests', { values: ['embedded'] }, [undefined, 30]],
  ])('%s', async (_, options, end) => {
    expect(await endOf(options)).toEqual(end);
  });
});

describe('the probes', () => {
  test('can be configured one by one', async () => {
    const container = containerOf(await render(everything));
    const get = (path: string) => ({ httpGet: { path, port: 'http' } });
    expect(at(container, 'livenessProbe')).toEqual({
      ...get('/healthz'),
      ...{ periodSeconds: 20, timeoutSeconds: 5, failureThreshold: 6 },
    });
    expect(at(container, 'readinessProbe')).toEqual({
      ...get('/readyz'),
      ...{ periodSeconds: 5, timeoutSeconds: 3, failureThreshold: 2 },
    });
  });

  test.each<[string, object, number]>([
    ['a minute, and four more', {}, 300],
    ['two minutes, and four more', { server: { waitForDatabaseSeconds: 120 } }, 360],
    ['as long when it is asked less often', { probes: { startup: { periodSeconds: 7 } } }, 301],
    ['as long as the values say', { probes: { startup: { failureThreshold: 5 } } }, 10],
  ])('allow a start to take %s', async (_, over, seconds) => {
    const probe = at(containerOf(await render(postgres(over))), 'startupProbe');
    expect(Number(at(probe, 'periodSeconds')) * Number(at(probe, 'failureThreshold'))).toBe(seconds);
  });
});

describe('extraObjects', () => {
  test('are rendered as written, with their templates evaluated', async () => {
    const map = only(await render(everything), 'ConfigMap', '-team-a');
    expect(map).toEqual({
      ...{ apiVersion: 'v1', kind: 'ConfigMap' },
      metadata: { name: 'office-team-a', namespace: 'mesh' },
      data: { note: 'of mesh-control' },
    });
  });
});
