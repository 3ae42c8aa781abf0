/** Limits of `rego.parse_module`. */
export interface ParseModuleSettings {
  readonly enabled: boolean
  /** How long one module may take. */
  readonly timeoutSeconds: number
  readonly maxTextBytes: number
  readonly maxAnswerBytes: number
  /** How many programs run at a time, and how many decisions wait for one. */
  readonly programs: number
  readonly queueLength: number
  /** Memory for cached trees. */
  readonly cacheBytes: number
}

/** Limits and allowed hosts of `http.send` and `net.lookup_ip_addr`. */
export interface RequestSettings {
  /**
   * Names, `*.example.org` for all names below one, or addresses; none if empty. Loopback must be
   * listed.
   */
  readonly allowedHosts: readonly string[]
  readonly allowPrivate: boolean
  /** Longest time of a response, whatever the policy sets. */
  readonly timeoutSeconds: number
  /** How many requests one decision may make, redirects and repetitions among them, and how long they may take in all. */
  readonly maxPerDecision: number
  readonly maxTotalSeconds: number
  readonly maxResponseBytes: number
  /** How many decisions may wait for answers at a time. */
  readonly maxWaiting: number
  /** Memory for cached responses. */
  readonly cacheBytes: number
}
