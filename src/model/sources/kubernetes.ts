import type { JsonObject } from '../../lib/json.ts';
import type { Fault } from '../declare/kind.ts';
import { sourceFaults } from './faults.ts';
import { type SourceConfig, settingsMembers } from './schema.ts';
import { type ConflictMode, conflictModes } from './settings.ts';

/** A Kubernetes cluster. Each namespace that a rule covers is a separate source. */
export interface KubernetesConfig {
  /** Prefix of the names of its sources: `k8s.team-a` is the namespace `team-a` of `k8s`. */
  readonly name: string;
  /** Path of the kubeconfig file. Absent: the cluster in which the server runs. */
  readonly kubeconfigFile?: string;
  /** Context in the kubeconfig file. Absent: its current context. */
  readonly context?: string;
  /** Access to Secrets in the namespaces of the resources. Absent: none. */
  readonly secrets?: SecretUse;
  /** Whether resources may name Services of their namespace. Absent: they may not. */
  readonly services?: { readonly read?: boolean };
  /**
   * Whether the server has rights in the whole cluster; default true. `false`: only in the namespaces that rules name.
   */
  readonly clusterWide?: boolean;
  /** The first rule that covers a namespace applies. Namespaces without a rule are ignored. */
  readonly namespaces: readonly NamespaceRule[];
}

/** Access of a server to the Secrets of a cluster. */
export interface SecretUse {
  /** Whether resources may name keys of Secrets in their namespace. */
  readonly read?: boolean;
  /**
   * Whether values that the server generates for objects, such as setup keys, are written to the Secrets that resources
   * name.
   */
  readonly write?: boolean;
}

/** Rule for the resources of some namespaces: what they may state, and how they are applied. */
export interface NamespaceRule extends SourceConfig {
  readonly names?: readonly string[];
  readonly selector?: NamespaceSelector;
  /** Conflict modes that the `Source` resource of a namespace may choose in addition to the rule's own. */
  readonly conflictModes?: readonly ConflictMode[];
  /** Whether a plan may be approved through its `Plan` resource; default true. */
  readonly approveInCluster?: boolean;
}

/** A Kubernetes label selector. All of its conditions must be met. */
export interface NamespaceSelector {
  readonly matchLabels?: Readonly<Record<string, string>>;
  readonly matchExpressions?: readonly LabelExpression[];
}

/** Condition on one label. */
export interface LabelExpression {
  readonly key: string;
  readonly operator: (typeof labelOperators)[number];
  readonly values?: readonly string[];
}

const labelOperators = ['In', 'NotIn', 'Exists', 'DoesNotExist'] as const;

const label: JsonObject = { type: 'string', minLength: 1, maxLength: 317 };
const labelValue: JsonObject = { type: 'string', maxLength: 63 };

const selector: JsonObject = {
  type: 'object',
  additionalProperties: false,
  minProperties: 1,
  description: 'Selects namespaces by their labels, with a Kubernetes label selector.',
  properties: {
    matchLabels: {
      type: 'object',
      minProperties: 1,
      additionalProperties: labelValue,
      description: 'Labels that the namespaces must have.',
    },
    matchExpressions: {
      type: 'array',
      minItems: 1,
      description: 'Conditions on labels; all of them must be met.',
      items: {
        type: 'object',
        additionalProperties: false,
        required: ['key', 'operator'],
        properties: {
          key: { ...label, description: 'The label.' },
          operator: { type: 'string', enum: labelOperators, description: 'Operator of the condition.' },
          values: { type: 'array', items: labelValue, description: 'Values for `In` and `NotIn`.' },
        },
      },
    },
  },
};

const rule: JsonObject = {
  type: 'object',
  additionalProperties: false,
  description: 'Rule for some namespaces: what their resources may state, and how they are applied.',
  properties: {
    names: {
      type: 'array',
      minItems: 1,
      maxItems: 1000,
      items: { type: 'string', minLength: 1, maxLength: 63 },
      description: 'Names of the namespaces.',
    },
    selector,
    ...settingsMembers,
    conflictModes: {
      type: 'array',
      minItems: 1,
      uniqueItems: true,
      items: { type: 'string', enum: conflictModes },
      description:
        'Conflict modes that the `Source` resource of a namespace may choose in addition to `conflictMode`. Default: none.',
    },
    approveInCluster: {
      type: 'boolean',
      description:
        'Whether plans may be approved through their `Plan` resource, by users with the right in the cluster to change it. Default: true. With false, only `heddle approve` approves plans.',
    },
  },
};

const text = (description: string): JsonObject => ({ type: 'string', minLength: 1, maxLength: 4096, description });

/** JSON Schema of the members of a cluster in a file of settings. */
export const kubernetesMembers: JsonObject = {
  kubeconfigFile: text('Kubeconfig file with the access to the cluster. Absent: the cluster in which the server runs.'),
  context: text('Context in the kubeconfig file. Absent: its current context.'),
  secrets: {
    type: 'object',
    additionalProperties: false,
    description:
      'Access of the server to the Secrets of the namespaces, which needs rights in the cluster. Absent: none.',
    properties: {
      read: {
        type: 'boolean',
        description: 'Whether resources may refer to keys of Secrets in their namespace with `valueFrom.secretKeyRef`.',
      },
      write: {
        type: 'boolean',
        description:
          'Whether values that the server generates for objects, such as setup keys, are written to the Secrets that resources name in the annotation `heddle.dev/output-secret`.',
      },
    },
  },
  services: {
    type: 'object',
    additionalProperties: false,
    description:
      'Access of the server to the Services of the namespaces, which needs a right in the cluster. Absent: none.',
    properties: {
      read: {
        type: 'boolean',
        description:
          'Whether network resources may refer to Services in their namespace with `serviceRef` instead of an address.',
      },
    },
  },
  clusterWide: {
    type: 'boolean',
    description:
      'Whether the server may read the whole cluster. Default: true. With `false`, it reads only the namespaces that rules name, and rules cannot have a selector.',
  },
  namespaces: {
    type: 'array',
    minItems: 1,
    maxItems: 1000,
    items: rule,
    description:
      'Rules for namespaces. The first rule that covers a namespace applies; namespaces without a rule are ignored.',
  },
};

/** Returns the faults of a cluster that the schema cannot express. */
export function kubernetesFaults(config: KubernetesConfig, kinds: readonly string[]): readonly Fault[] {
  const fault = (path: string, message: string): Fault => ({ code: 'value_invalid', path, message });
  const prefix =
    config.name.length <= 36 && /^[a-z0-9]([a-z0-9-]*[a-z0-9])?(\.[a-z0-9]([a-z0-9-]*[a-z0-9])?)*$/.test(config.name)
      ? []
      : [
          fault(
            '/name',
            '`name` is the prefix of the names of sources and appears in the names of their resources in the cluster; use at most 36 lower-case letters, digits, dots and dashes, such as `k8s`',
          ),
        ];
  const context =
    config.context !== undefined && config.kubeconfigFile === undefined
      ? [fault('/context', '`context` needs a kubeconfig file; name the file in `kubeconfigFile`')]
      : [];
  const selectors =
    config.clusterWide === false
      ? config.namespaces.flatMap(({ selector }, at) =>
          selector === undefined
            ? []
            : [
                fault(
                  `/namespaces/${at}/selector`,
                  'with `clusterWide: false` the server cannot list namespaces, so a `selector` cannot work; name them in `names`',
                ),
              ],
        )
      : [];
  return [...prefix, ...context, ...selectors, ...config.namespaces.flatMap((one, at) => ruleFaults(one, at, kinds))];
}

function ruleFaults(namespaces: NamespaceRule, at: number, kinds: readonly string[]): readonly Fault[] {
  const { names, selector } = namespaces;
  const path = `/namespaces/${at}`;
  const fault = (message: string, of = ''): Fault => ({ code: 'value_invalid', path: `${path}${of}`, message });
  const chosen =
    (names === undefined) === (selector === undefined)
      ? [fault('a rule covers namespaces by `names` or by a `selector`; write one of the two')]
      : [];
  const expressions = (selector?.matchExpressions ?? []).flatMap(({ operator, values = [] }, index) => {
    const wantsValues = operator === 'In' || operator === 'NotIn';
    if (wantsValues === values.length > 0) return [];
    const message = wantsValues ? `\`${operator}\` requires \`values\`` : `\`${operator}\` does not allow \`values\``;
    return [fault(message, `/selector/matchExpressions/${index}/values`)];
  });
  const settings = sourceFaults(namespaces, kinds).map((one) => ({ ...one, path: `${path}${one.path}` }));
  return [...chosen, ...expressions, ...settings];
}

/** Returns the namespaces that rules list by name, without repeats. */
export function namespaceNamesOf({ namespaces }: Pick<KubernetesConfig, 'namespaces'>): readonly string[] {
  return [...new Set(namespaces.flatMap(({ names = [] }) => names))];
}

/** Returns the first rule that covers a namespace; `undefined` when none does. */
export function ruleFor(
  { namespaces }: Pick<KubernetesConfig, 'namespaces'>,
  namespace: { readonly name: string; readonly labels: Readonly<Record<string, string>> },
): NamespaceRule | undefined {
  return namespaces.find(
    ({ names, selector }) =>
      names?.includes(namespace.name) === true || (selector !== undefined && isSelected(namespace.labels, selector)),
  );
}

function isSelected(labels: Readonly<Record<string, string>>, selector: NamespaceSelector): boolean {
  const { matchLabels = {}, matchExpressions = [] } = selector;
  return (
    Object.entries(matchLabels).every(([key, value]) => labels[key] === value) &&
    matchExpressions.every((expression) => matchesExpression(labels, expression))
  );
}

function matchesExpression(
  labels: Readonly<Record<string, string>>,
  { key, operator, values = [] }: LabelExpression,
): boolean {
  const value = Object.hasOwn(labels, key) ? labels[key] : undefined;
  switch (operator) {
    case 'In':
      return value !== undefined && values.includes(value);
    case 'NotIn':
      return value === undefined || !values.includes(value);
    case 'Exists':
      return value !== undefined;
    case 'DoesNotExist':
      return value === undefined;
  }
}
