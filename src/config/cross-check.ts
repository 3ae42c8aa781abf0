import type { Config } from './config.js'

/** A rule that several keys must keep together. */
export interface CrossCheck {
  readonly code: string
  /** The keys that the rule reads; the first is the one to blame. */
  readonly paths: readonly (readonly [string, ...string[]])[]
  /** What is wrong, or undefined. */
  readonly check: (config: Config) => string | undefined
}

/** A certificate and its key are set both or not at all. */
export function certificatePair(section: 'server' | 'store'): CrossCheck {
  const problem = `${section}.tlsCertificate and ${section}.tlsKey go together: set both or none`
  return {
    code: 'half_a_certificate',
    paths: [
      [section, 'tlsCertificate'],
      [section, 'tlsKey'],
    ],
    check: ({ [section]: { tlsCertificate, tlsKey } }) =>
      (tlsCertificate === undefined) === (tlsKey === undefined) ? undefined : problem,
  }
}
