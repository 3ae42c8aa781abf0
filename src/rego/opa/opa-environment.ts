/** Variables of the Go runtime, and the one that Windows programs require to start. */
const PASSED_ON = ['GOGC', 'GOMEMLIMIT', 'GOMAXPROCS', 'SystemRoot'] as const

/** The environment of `opa`, which policies can read by `opa.runtime()`: nothing of this process that may be secret. */
export function opaEnvironment(env: NodeJS.ProcessEnv = process.env): Record<string, string> {
  return Object.fromEntries(
    PASSED_ON.flatMap((name) => {
      const value = env[name]
      return value === undefined ? [] : [[name, value]]
    }),
  )
}
