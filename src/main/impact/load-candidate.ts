import type { Config } from '../../config/config.js'
import { NO_VERIFICATION, hostBuiltins, refusedRequests, type LoadOptions } from '../../rego/index.js'
import { findServiceOpa } from '../files/service-opa.js'
import { LOW_PRIORITY_FACTOR } from '../threads/impact-thread.js'

/** The `nice` increment of the compiler. */
const NICENESS = 10

/**
 * Returns the options for policies that do not serve. Calls that the service refuses are warnings:
 * the recorded answers are used.
 */
export function candidateOptions(config: Pick<Config, 'dataDir' | 'policies'>): LoadOptions {
  const { limits, staticPackages, compiler } = config.policies
  const timeoutSeconds = compiler.timeoutSeconds * LOW_PRIORITY_FACTOR
  const patient = { ...config, policies: { ...config.policies, compiler: { ...compiler, timeoutSeconds } } }
  return {
    findOpa: async () => ({ ...(await findServiceOpa(patient)), niceness: NICENESS }),
    builtins: hostBuiltins,
    refusedBuiltins: refusedRequests(config.policies),
    warnsOfRefusedBuiltins: true,
    limits,
    verification: () => NO_VERIFICATION,
    analysis: { staticPackages, undefinedData: 'warn' },
  }
}
