import { existsSync } from 'node:fs'
import { join } from 'node:path'

import type { Config } from '../../config/config.js'
import { CONFIG_FILE_VARIABLE } from '../../config/read-environment.js'
import { AppError } from '../../errors/app-error.js'
import { packageRoot } from '../../lib/package-root.js'

/** Replaces missing default directories by the policies in the package. */
export function orShipped(directories: readonly string[]): string[] {
  return directories.map((directory) => (existsSync(directory) ? directory : join(packageRoot, directory)))
}

/** Whether somebody chose the location of policies. */
export interface PolicyChoice {
  readonly configFile: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  /** True if the policy directories are defaults. */
  readonly isDefault: boolean
}

/**
 * Returns the configuration for trying the service: without a configuration file or any policy
 * setting, it uses the policies in the package if the current directory has none. With a
 * configuration file it never does: a service started in the wrong directory would apply policies
 * that nobody chose.
 */
export function withShippedPolicies(config: Config, { configFile, env, isDefault }: PolicyChoice): Config {
  if (!isDefault) return config
  const file = configFile ?? env[CONFIG_FILE_VARIABLE]
  if (file) return requirePolicies(config, file)
  const { policies } = config
  return { ...config, policies: { ...policies, directories: orShipped(policies.directories) } }
}

/** Raises `invalid` if the file names no policies and the default directory is missing. */
function requirePolicies(config: Config, file: string): Config {
  const missing = config.policies.directories.find((directory) => !existsSync(directory))
  if (missing === undefined) return config
  throw new AppError(
    'invalid',
    `Directory ${missing} not found, and ${file} sets no policies. Set policies.directories there, or start in the directory that contains ${missing}. To try the policies that come with tidegate, set it to [${join(packageRoot, missing)}].`,
  )
}

/** Returns whether the policies in the package are used. */
export function usesShippedPolicies({ directories }: Pick<Config['policies'], 'directories'>): boolean {
  return directories.some((directory) => directory.startsWith(packageRoot))
}

/**
 * Returns next steps for trying the service with the policies in the package; undefined if others
 * are used.
 */
export function trialHint(directories: readonly string[]): string | undefined {
  const shipped = directories.find((directory) => directory.startsWith(packageRoot))
  if (shipped === undefined) return undefined
  return `serving the policies that come with tidegate. Next: cp -r ${shipped} policies, change them and start again with --watch; evaluate them with tidegate check FILE; see ${packageRoot}README.md`
}
