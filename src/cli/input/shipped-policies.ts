import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Config } from '../../config/config.js'
import { CONFIG_FILE_VARIABLE } from '../../config/read-environment.js'
import { AppError } from '../../errors/app-error.js'
import { packageRoot } from '../../lib/package-root.js'

/** The default directories, or where the current directory has none, the policies that come with the package. */
export function orShipped(directories: readonly string[]): string[] {
  return directories.map((directory) => (existsSync(directory) ? directory : join(packageRoot, directory)))
}

/** What of a command line and its environment says whether somebody chose where policies are. */
export interface PolicyChoice {
  readonly configFile: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** Whether the directories of policies are those that nobody named. */
  readonly isDefault: boolean
}

/**
 * The configuration of a service that somebody tries: without a configuration file and without any word about policies it serves those
 * of the package where the current directory has none. With a file it must not: a service that is started in a wrong directory
 * would answer by policies that nobody chose.
 */
export function withShippedPolicies(config: Config, { configFile, env, isDefault }: PolicyChoice): Config {
  if (!isDefault) return config
  const file = configFile ?? env[CONFIG_FILE_VARIABLE]
  if (file) return requirePolicies(config, file)
  const { policies } = config
  return { ...config, policies: { ...policies, directories: orShipped(policies.directories) } }
}

/** Raises `invalid` where neither the file names policies nor the default directory is there. */
function requirePolicies(config: Config, file: string): Config {
  const missing = config.policies.directories.find((directory) => !existsSync(directory))
  if (missing === undefined) return config
  throw new AppError(
    'invalid',
    `Directory ${missing} not found, and ${file} names no policies. Set policies.directories there, or start in the directory that has ${missing}; to try those that come with tidegate, set it to [${join(packageRoot, missing)}].`,
  )
}

/** Whether nobody has named any policies, and the current directory has none: those of the package would be asked. */
export function usesShippedPolicies({ directories }: Pick<Config['policies'], 'directories'>): boolean {
  return directories.some((directory) => directory.startsWith(packageRoot))
}

/** What to do next for somebody who tries the service with the policies that come with it; undefined where those do not serve. */
export function trialHint(directories: readonly string[]): string | undefined {
  const shipped = directories.find((directory) => directory.startsWith(packageRoot))
  if (shipped === undefined) return undefined
  return `the policies that come with tidegate answer. Next: cp -r ${shipped} policies, change them and start again with --watch; tidegate check FILE asks them about a pipeline; ${packageRoot}README.md goes on from here`
}
