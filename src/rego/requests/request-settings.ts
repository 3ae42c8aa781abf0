/** What policies may have parsed: `rego.parse_module`. */
export interface ParseModuleSettings {
  readonly enabled: boolean
  /** How long one module may take. */
  readonly timeoutSeconds: number
  readonly maxTextBytes: number
  readonly maxAnswerBytes: number
  /** How many programs run at a time, and how many decisions wait for one. */
  readonly programs: number
  readonly queueLength: number
  /** What trees may take that are kept for other decisions. */
  readonly cacheBytes: number
}

/** Whom policies may ask, and how much: `http.send` and `net.lookup_ip_addr`. */
export interface RequestSettings {
  /** Names, `*.example.org` for all names below one, addresses. None where it is empty. Loopback only where it is named here. */
  readonly allowedHosts: readonly string[]
  readonly allowPrivate: boolean
  /** How long one answer may take at most, whatever the policy says. */
  readonly timeoutSeconds: number
  /** How many requests one decision may make, redirects and repetitions among them, and how long they may take in all. */
  readonly maxPerDecision: number
  readonly maxTotalSeconds: number
  readonly maxResponseBytes: number
  /** How many decisions may wait for answers at a time. */
  readonly maxWaiting: number
  /** What answers may take that are kept for other decisions. */
  readonly cacheBytes: number
}
