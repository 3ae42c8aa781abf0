import { execFile } from 'node:child_process'
import { mkdir, rm } from 'node:fs/promises'
import { promisify } from 'node:util'

import { AppError, toError } from '../../errors/app-error.js'
import { packSources } from '../../rego/index.js'
import type { FetchBundle } from './fetch-bundle.js'

const run = promisify(execFile)
const MAX_OUTPUT_BYTES = 256 * 1024 * 1024
const COMMIT = /^[\da-f]{40,64}$/

export interface GitSettings {
  /** A URL or a path that `git` accepts. */
  readonly url: string
  /** A branch or a tag. */
  readonly ref: string
  /** The folder of the policies in the repository; empty for all of it. */
  readonly directory: string
  /** An `allowed_signers` file of SSH keys; commits without a good signature of one are refused. */
  readonly allowedSigners?: string | undefined
  /** The working copy. Removed and cloned again if it is unusable. */
  readonly folder: string
  readonly timeoutMs: number
}

/**
 * Fetches a ref with the `git` program and packs its Rego and data as a bundle whose revision is
 * the commit. The version is the commit.
 */
export function fetchFromGit(settings: GitSettings): FetchBundle {
  const { url, ref, directory, allowedSigners, folder, timeoutMs } = settings
  const git: Git = async (args, signal, input = '') => {
    const how = {
      cwd: folder,
      timeout: timeoutMs,
      signal,
      maxBuffer: MAX_OUTPUT_BYTES,
      encoding: 'buffer',
    } as const
    const env = { ...process.env, GIT_TERMINAL_PROMPT: '0', GIT_CONFIG_NOSYSTEM: '1' }
    const running = run('git', [...args], { ...how, env })
    // A program that ends early closes its input. Its exit code is the error.
    running.child.stdin?.on('error', () => undefined)
    running.child.stdin?.end(input)
    return (await running).stdout
  }
  return async ({ known, signal }) => {
    try {
      await mkdir(folder, { recursive: true, mode: 0o700 })
      await git(['init', '--quiet', '--bare', '.'], signal)
      await git(['fetch', '--quiet', '--depth', '1', '--no-tags', '--force', '--', url, ref], signal)
      const commit = (await git(['rev-parse', 'FETCH_HEAD^{commit}'], signal)).toString().trim()
      if (!COMMIT.test(commit)) throw new Error('git names no commit')
      if (commit === known) return { isChanged: false, isLongPoll: false }
      const signer = allowedSigners && (await verify(git, commit, allowedSigners, signal))
      const files = await readFiles(git, commit, directory, signal)
      const bytes = await packSources(files, commit)
      return { isChanged: true, bytes, version: commit, signer, isLongPoll: false }
    } catch (raw) {
      if (raw instanceof AppError || signal.aborted) throw raw
      await rm(folder, { recursive: true, force: true })
      throw new AppError('unavailable', `git cannot fetch ${ref}: ${lastLine(raw)}`, { cause: raw })
    }
  }
}

type Git = (args: readonly string[], signal: AbortSignal, input?: string) => Promise<Buffer>

/** Returns the signer and the fingerprint of the key. Raises `unavailable` without a good signature. */
async function verify(
  git: Git,
  commit: string,
  allowedSigners: string,
  signal: AbortSignal,
): Promise<string> {
  const config = ['-c', 'gpg.format=ssh', '-c', `gpg.ssh.allowedSignersFile=${allowedSigners}`]
  await git([...config, 'verify-commit', commit], signal).catch((raw: unknown) => {
    throw new AppError('unavailable', `the commit ${commit} has no good signature: ${lastLine(raw)}`, {
      cause: raw,
    })
  })
  const shown = await git([...config, 'show', '--no-patch', '--format=%GS %GF', commit], signal)
  return shown.toString().trim()
}

/** Returns regular files only: links and submodules are left out. */
async function readFiles(
  git: Git,
  commit: string,
  directory: string,
  signal: AbortSignal,
): Promise<Map<string, Buffer>> {
  const root = directory.replace(/^\/+|\/+$/g, '')
  const tree = root === '' ? commit : `${commit}:${root}`
  const listed = (await git(['ls-tree', '-r', '-z', '--full-tree', tree], signal)).toString().split('\0')
  const wanted = listed.flatMap((entry) => {
    const { object, name } = /^100\d{3} blob (?<object>[\da-f]+)\t(?<name>.+)$/s.exec(entry)?.groups ?? {}
    return object === undefined || name === undefined || !isPolicyFile(name) ? [] : [{ object, name }]
  })
  const output = await git(
    ['cat-file', '--batch'],
    signal,
    wanted.map(({ object }) => `${object}\n`).join(''),
  )
  const files = new Map<string, Buffer>()
  let at = 0
  // Each object follows a line with its id, type and size, and has a line break after it.
  for (const { name } of wanted) {
    const start = output.indexOf('\n', at) + 1
    const size = Number(output.toString('latin1', at, start).trim().split(' ').at(-1))
    files.set(name, output.subarray(start, start + size))
    at = start + size + 1
  }
  return files
}

function isPolicyFile(name: string): boolean {
  const base = name.split('/').at(-1) ?? ''
  return (
    base.endsWith('.rego') ||
    ['data.json', 'data.yaml', 'data.yml', '.manifest', '.signatures.json'].includes(base)
  )
}

/** The last line of what git reported, which is the reason. */
function lastLine(raw: unknown): string {
  const stderr = typeof raw === 'object' && raw !== null && 'stderr' in raw ? String(raw.stderr) : ''
  const line = stderr.trim().split('\n').at(-1) ?? ''
  return line === '' ? toError(raw).message : line
}
