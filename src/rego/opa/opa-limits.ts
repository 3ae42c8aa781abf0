/** The limits of one run of the program. */
export interface OpaLimits {
  readonly timeMs: number
  readonly memoryBytes: number
  /** Number of cores. */
  readonly cores: number
  /** `GOGC`: growth of the memory between collections of garbage, in per cent; 100 by default. */
  readonly memoryGrowthPercent?: number
}

/** The defaults of `policies.compiler`. */
export const DEFAULT_OPA_LIMITS: OpaLimits = { timeMs: 20_000, memoryBytes: 2 * 1024 ** 3, cores: 2 }

const MS_PER_SECOND = 1000

/** `policies.compiler` of the configuration. */
interface CompilerSettings {
  readonly timeoutSeconds: number
  readonly maxMemoryBytes: number
  readonly cores: number
}

/** Converts `policies.compiler` to limits. */
export function opaLimits({ compiler }: { readonly compiler: CompilerSettings }): OpaLimits {
  const { timeoutSeconds, maxMemoryBytes, cores } = compiler
  return { timeMs: timeoutSeconds * MS_PER_SECOND, memoryBytes: maxMemoryBytes, cores }
}
