/** What can be said of the access between two ends. `mixed`: some of it is let through and some is not. */
export const verdicts = ['allow', 'conditional', 'deny', 'mixed'] as const;

/** The results of a test of access. */
export const testOutcomes = ['pass', 'fail', 'conditional'] as const;

/** Whether a peer passes a posture check; `unknown` when that depends on unknown facts. */
export const postureResults = ['pass', 'fail', 'unknown'] as const;

/** The protocols of rules. */
export const protocols = ['all', 'tcp', 'udp', 'icmp', 'ssh'] as const;

/** What a rule does with the traffic that it is about. */
export const ruleActions = ['accept', 'drop'] as const;

/** The protocols whose traffic has ports. */
export const protocolsWithPorts: readonly string[] = ['tcp', 'udp', 'ssh'];
