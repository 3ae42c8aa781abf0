import type { Config } from '../../config/config.js'

/** What one run of the program may use. */
export interface OpaLimits {
  readonly timeMs: number
  readonly memoryBytes: number
  /** How many cores it computes on. */
  readonly cores: number
}

/** `policies.compiler` by default. */
export const DEFAULT_OPA_LIMITS: OpaLimits = { timeMs: 20_000, memoryBytes: 2 * 1024 ** 3, cores: 2 }

const MS_PER_SECOND = 1000

/** The limits of `policies.compiler`. */
export function opaLimits({ compiler }: Pick<Config['policies'], 'compiler'>): OpaLimits {
  const { timeoutSeconds, maxMemoryBytes, cores } = compiler
  return { timeMs: timeoutSeconds * MS_PER_SECOND, memoryBytes: maxMemoryBytes, cores }
}
