import { readFile, readdir, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { isAbsolute, join } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { hashProgram } from './hash-program.js'
import { pinnedSum } from './official-releases.js'

type Environment = Readonly<Record<string, string | undefined>>

/** A program that `tidegate opa install` installed in the user's cache. */
export interface InstalledOpa {
  readonly release: string
  readonly path: string
}

const RELEASE = /^(\d+)\.(\d+)\.(\d+)$/
const SUM = /^[\da-f]{64}/

/**
 * Returns the user's folder of installed programs, with a folder for each release; undefined
 * without a home directory (XDG base directories must be absolute).
 */
export function installFolder(env: Environment): string | undefined {
  const cache = env['XDG_CACHE_HOME'] ?? ''
  if (isAbsolute(cache)) return join(cache, 'tidegate', 'opa')
  const home = env['HOME'] ?? env['USERPROFILE'] ?? homeOfUser()
  return home === undefined || home === '' ? undefined : join(home, '.cache', 'tidegate', 'opa')
}

/** The files of a release in that folder. */
export function installedFiles(
  folder: string,
  release: string,
  platform: string,
): { program: string; sum: string } {
  const program = join(folder, release, platform === 'win32' ? 'opa.exe' : 'opa')
  return { program, sum: `${program}.sha256` }
}

/** Returns the newest installed release, if any. */
export async function findInstalledOpa(
  env: Environment,
  platform: string,
): Promise<InstalledOpa | undefined> {
  const folder = installFolder(env)
  if (folder === undefined) return undefined
  const names = await readdir(folder).catch(() => [])
  for (const release of names.filter(isRelease).sort(byAge)) {
    const { program } = installedFiles(folder, release, platform)
    // A failed installation does not count.
    if (await exists(program)) return { release, path: program }
  }
  return undefined
}

async function exists(path: string): Promise<boolean> {
  return await stat(path).then(
    () => true,
    () => false,
  )
}

/**
 * Raises `unavailable` if the installed program has changed, by the pinned sum or the sum noted at
 * its installation.
 */
export async function verifyInstalledOpa(
  { release, path }: InstalledOpa,
  platform: string,
  arch: string,
): Promise<void> {
  const expected =
    pinnedSum(release, platform, arch) ??
    SUM.exec(await readFile(`${path}.sha256`, 'utf8').catch(() => ''))?.[0]
  const actual = await hashProgram(path)
  if (actual === expected) return
  throw new AppError(
    'unavailable',
    `the installed opa program ${path} has changed since it was installed: its SHA-256 is ${actual}, expected ${expected ?? 'the sum noted next to it'}. Install it again (tidegate opa install ${release}), remove its folder, or name another program with --opa or OPA_BIN.`,
  )
}

/** True for a release number such as `1.20.2`. */
export function isRelease(text: string): boolean {
  return RELEASE.test(text)
}

/** The newest first. */
function byAge(a: string, b: string): number {
  const [left, right] = [a, b].map((release) => release.split('.').map(Number))
  for (let part = 0; part < 3; part++) {
    const difference = (right?.[part] ?? 0) - (left?.[part] ?? 0)
    if (difference !== 0) return difference
  }
  return 0
}

/** A user without an entry in the system's list has no home directory. */
function homeOfUser(): string | undefined {
  try {
    return homedir()
  } catch {
    return undefined
  }
}
