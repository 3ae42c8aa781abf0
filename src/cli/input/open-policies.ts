import type { Config } from '../../config/config.js'
import { traceConfig } from '../../config/load-config.js'
import { CONFIG_FILE_VARIABLE } from '../../config/read-environment.js'
import { readSecrets } from '../../config/read-secrets.js'
import { makeBundleVerification } from '../../main/files/bundle-verification.js'
import {
  findOpa,
  hostBuiltins,
  loadSnapshot,
  opaLimits,
  refusedRequests,
  type LoadOptions,
  type OpaLimits,
  type Snapshot,
} from '../../rego/index.js'
import { Progress } from '../output/progress.js'
import { policyFlags } from '../session/shared-options.js'
import type { PolicyOptions } from '../session/shared-options.js'
import type { Terminal } from '../session/terminal.js'
import { orShipped } from './shipped-policies.js'

/** Loaded policies with their configuration. */
export interface OpenPolicies {
  readonly config: Config
  readonly snapshot: Snapshot
  /** Compiled directories. */
  readonly directories: readonly string[]
}

/**
 * Compiles and loads the policies of the flags or configuration. Raises the errors of `loadConfig`
 * and `loadSnapshot`.
 */
export async function openPolicies(
  options: PolicyOptions,
  terminal: Terminal,
  compiling: Pick<LoadOptions, 'includesPrint'> = {},
): Promise<OpenPolicies> {
  const { config, directories } = findPolicies(options, terminal)
  const includesAllData = options.data !== undefined
  const locations = { directories, bundles: config.policies.bundles, includesAllData }
  const work = loadSnapshot(locations, { ...loadOptions(config, terminal), ...compiling })
  return { config, directories, snapshot: await new Progress(terminal).during('compiling policies …', work) }
}

/** Returns the configuration and the policy directories. Raises the errors of `loadConfig`. */
export function findPolicies(options: PolicyOptions, terminal: Terminal): Omit<OpenPolicies, 'snapshot'> {
  const flags = policyFlags(options)
  const { config, originOf } = traceConfig({ file: options.config, env: terminal.env, flags })
  const isDefault = originOf(['policies', 'directories']) === undefined
  return {
    config,
    directories: isDefault ? orShipped(config.policies.directories) : config.policies.directories,
  }
}

/** Returns the files that a watched command depends on. */
export function policyFiles(options: PolicyOptions, terminal: Terminal): (string | undefined)[] {
  const file = options.config ?? terminal.env[CONFIG_FILE_VARIABLE]
  try {
    const { config, directories } = findPolicies(options, terminal)
    return [file, ...directories, ...config.policies.bundles]
  } catch {
    // The command itself reports the error.
    return [file]
  }
}

/**
 * A command ends soon and runs alone, so `opa` may use more of its memory. Collecting garbage takes
 * half of the time of `opa test` otherwise.
 */
const MEMORY_GROWTH_PERCENT = 400

function programLimits({ policies }: Config): OpaLimits {
  return { ...opaLimits(policies), memoryGrowthPercent: MEMORY_GROWTH_PERCENT }
}

/** Returns the options for compiling and running policies. */
export function loadOptions(config: Config, terminal: Terminal): LoadOptions {
  const { opa: named, capabilities, limits, staticPackages, undefinedData } = config.policies
  const { bundleSigning, sources } = config.policies
  return {
    findOpa: () => findOpa({ named, capabilities, env: terminal.env, limits: programLimits(config) }),
    builtins: hostBuiltins,
    refusedBuiltins: refusedRequests(config.policies),
    limits,
    verification: () =>
      makeBundleVerification(
        { bundleSigning, sources },
        readSecrets({ policies: { bundleSigning } }, terminal.env),
      ),
    analysis: { staticPackages, undefinedData },
    showsWholePaths: true,
  }
}
