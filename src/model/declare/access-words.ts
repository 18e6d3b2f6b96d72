/** Results of an access evaluation between two ends. `mixed`: some traffic is allowed and some is not. */
export const verdicts = ['allow', 'conditional', 'deny', 'mixed'] as const;

/** Results of an access test. */
export const testOutcomes = ['pass', 'fail', 'conditional'] as const;

/** Results of a posture check for a peer. `unknown`: the result depends on facts that are unknown. */
export const postureResults = ['pass', 'fail', 'unknown'] as const;

/** Protocols of access rules. */
export const protocols = ['all', 'tcp', 'udp', 'icmp', 'ssh'] as const;

/** What a rule does with the traffic that it matches. */
export const ruleActions = ['accept', 'drop'] as const;

/** The protocols whose traffic has ports. */
export const protocolsWithPorts: readonly string[] = ['tcp', 'udp', 'ssh'];
