import { createHash, randomUUID } from 'node:crypto'
import { chmod, mkdir, open, rename, rm, writeFile } from 'node:fs/promises'
import { dirname } from 'node:path'

import { AppError, toError } from '../../errors/app-error.js'
import { downloadFrom } from './download.js'
import type { ProxySettings } from './download.js'
import { installedFiles } from './installed-opa.js'
import { officialAsset, pinnedSum } from './official-releases.js'

export interface InstallRequest {
  /** `1.20.2`. */
  readonly release: string
  /** The user's folder of installed programs. */
  readonly folder: string
  readonly platform: string
  readonly arch: string
  /** The base URL of `v1.20.2/opa_linux_amd64_static`, without a slash at the end. */
  readonly base: string
  /** The SHA-256 given by the user, 64 lower-case hexadecimal digits. */
  readonly sum: string | undefined
  readonly proxies: ProxySettings
  /** Called with the number of bytes received. */
  readonly onProgress: (bytes: number) => void
}

export interface Installation {
  readonly path: string
  readonly url: string
  readonly sum: string
}

/** Twice the size of OPA's largest program. */
const MAX_BYTES = 256 * 1024 * 1024

/**
 * Downloads an official OPA program into the user's cache. The file gets its final name only if its
 * SHA-256 is the pinned one, or the given one for a release without a pinned sum. Raises `invalid`
 * for a missing or different sum, and `unavailable` if the download fails.
 */
export async function installOpa(request: InstallRequest): Promise<Installation> {
  const { release, folder, platform, arch, base, proxies, onProgress } = request
  const asset = officialAsset(platform, arch)
  if (asset === undefined)
    throw new AppError('unavailable', `the OPA project publishes no program for ${platform}-${arch}`)
  const url = `${base}/v${release}/${asset}`
  const expected = expectedSum(request, url)
  const { program, sum } = installedFiles(folder, release, platform)
  const temporary = `${program}.${randomUUID()}.part`
  try {
    await mkdir(dirname(program), { recursive: true })
    const actual = await writeHashed(temporary, downloadFrom(url, MAX_BYTES, proxies), onProgress)
    if (actual !== expected) {
      throw new AppError(
        'unavailable',
        `what ${url} holds is not the program that was expected: its SHA-256 is ${actual}, expected ${expected}. Nothing was installed.`,
      )
    }
    await chmod(temporary, 0o755)
    await writeFile(sum, `${actual}  ${asset}\n`)
    await rename(temporary, program)
    return { path: program, url, sum: actual }
  } catch (raw) {
    if (raw instanceof AppError) throw raw
    throw new AppError('unavailable', `install opa ${release}: ${toError(raw).message}`, { cause: raw })
  } finally {
    await rm(temporary, { force: true })
  }
}

/** A sum from the download server proves nothing, because the same party could replace both. */
function expectedSum({ release, platform, arch, sum }: InstallRequest, url: string): string {
  const pinned = pinnedSum(release, platform, arch)
  if (pinned === undefined && sum === undefined) {
    throw new AppError(
      'invalid',
      `no SHA-256 of OPA ${release} for ${platform}-${arch} is pinned in this release of tidegate: give the one that you trust with --sha256 (the OPA project publishes it at ${url}.sha256)`,
    )
  }
  if (pinned !== undefined && sum !== undefined && pinned !== sum) {
    throw new AppError(
      'invalid',
      `the SHA-256 of OPA ${release} for ${platform}-${arch} is ${pinned}, not ${sum}`,
    )
  }
  return pinned ?? sum ?? ''
}

async function writeHashed(
  path: string,
  chunks: AsyncIterable<Uint8Array>,
  onProgress: (bytes: number) => void,
): Promise<string> {
  const hash = createHash('sha256')
  const file = await open(path, 'wx', 0o600)
  let bytes = 0
  try {
    for await (const chunk of chunks) {
      hash.update(chunk)
      await file.writeFile(chunk)
      bytes += chunk.length
      onProgress(bytes)
    }
    await file.sync()
  } finally {
    await file.close()
  }
  return hash.digest('hex')
}
