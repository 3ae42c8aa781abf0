import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, utimes, writeFile } from 'node:fs/promises'
import { basename, join } from 'node:path'
import { z } from 'zod'

import { versionOfFile } from '../../lib/file-version.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { opaRelease } from '../opa/opa-release.js'
import { buildModule } from './build-module.js'
import type { BuildModule, BuildOptions, BuiltModule } from './build-module.js'
import type { EntrypointKind, RegoModule } from '../modules/rego-module.js'

const SUM_BYTES = 32
const LENGTH_BYTES = 4
/** Loading uses only the newest build of a policy set; a reverted change uses an older one. */
const MAX_FILES = 8
/** No build is as large. */
const MAX_BYTES = 256 * 1024 * 1024
/** Files written by this program, complete or partial. */
const OWN_NAME = /^[\da-f]{64}(?:\.[^.]+\.tmp)?$/
/** Files newer than now by more than this were written while the clock was wrong. */
const AHEAD_MS = 60_000
/** Only the service may read or write builds, since the code decides. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600]
const Head = z.object({ paths: z.array(z.tuple([z.string(), z.string()])) })

/**
 * Returns a `buildModule` that stores builds in a folder by the digest of all inputs: sources,
 * entrypoints, options, capabilities, the `opa` program and this program (`builtBy`). A build that
 * cannot be stored is repeated at each load. A damaged file is deleted.
 */
export function keepBuilds(folder: string, builtBy: string, build: BuildModule = buildModule): BuildModule {
  return async (opa, modules, keys, options) => {
    const program = await versionOfFile(opa.path)
    if (program === undefined) return await build(opa, modules, keys, options)
    // A launcher script keeps its file version when the release that it starts changes.
    const { text = '' } = opa.capabilities ?? {}
    const programs = `${builtBy} ${program} ${await opaRelease(opa)} ${text}`
    const file = join(folder, await digestOf(programs, modules, keys, options))
    const kept = await readBuild(file).catch(() => undefined)
    if (kept !== undefined) return kept
    const built = await build(opa, modules, keys, options)
    await writeBuild(folder, file, built).catch(() => undefined)
    return built
  }
}

async function digestOf(
  programs: string,
  modules: readonly RegoModule[],
  keys: ReadonlyMap<string, EntrypointKind>,
  { maxEntrypoints, includesPrint = false }: BuildOptions,
): Promise<string> {
  const turns = new ShortTurns()
  const hash = createHash('sha256')
  const add = (...values: readonly unknown[]): unknown => hash.update(`${JSON.stringify(values)}\n`)
  add(programs, maxEntrypoints, includesPrint, [...keys])
  for (const { text, version, packagePath, rules } of modules) {
    add(text, version, packagePath, rules)
    await turns.pause()
  }
  return hash.digest('hex')
}

/** Returns a stored build; undefined if it is missing or damaged. */
async function readBuild(file: string): Promise<BuiltModule | undefined> {
  const found = await stat(file).catch(() => undefined)
  if (found === undefined) return undefined
  // A pipe or a device may return nothing, or never end.
  const isReadable = found.isFile() && found.size <= MAX_BYTES
  const bytes = isReadable ? await readFile(file).catch(() => undefined) : undefined
  if (isReadable && bytes === undefined) return undefined
  const built = bytes && parseBuild(basename(file), bytes)
  if (built === undefined) await rm(file, { force: true, recursive: true }).catch(() => undefined)
  // Marks builds in use as the newest.
  else await utimes(file, new Date(), new Date()).catch(() => undefined)
  return built
}

function parseBuild(name: string, bytes: Buffer): BuiltModule | undefined {
  const rest = bytes.subarray(SUM_BYTES)
  if (rest.length < LENGTH_BYTES || !sumOf(name, rest).equals(bytes.subarray(0, SUM_BYTES))) return undefined
  const wasmAt = LENGTH_BYTES + rest.readUInt32LE(0)
  const { paths } = Head.parse(JSON.parse(rest.toString('utf8', LENGTH_BYTES, wasmAt)))
  return { wasm: new Uint8Array(rest.subarray(wasmAt)), paths: new Map(paths) }
}

async function writeBuild(folder: string, file: string, { wasm, paths }: BuiltModule): Promise<void> {
  const head = Buffer.from(JSON.stringify({ paths: [...paths] }))
  const length = Buffer.alloc(LENGTH_BYTES)
  length.writeUInt32LE(head.length)
  const rest = Buffer.concat([length, head, wasm])
  const temporary = `${file}.${randomUUID()}.tmp`
  try {
    await mkdir(folder, { recursive: true, mode: FOLDER_MODE })
    await writeFile(temporary, Buffer.concat([sumOf(basename(file), rest), rest]), { mode: FILE_MODE })
    await rename(temporary, file)
    await removeOldest(folder)
  } catch (raw) {
    await rm(temporary, { force: true })
    throw raw
  }
}

/**
 * Removes all but the newest files, including partial ones. Files from the future go first, because
 * no later file would ever be newer.
 */
async function removeOldest(folder: string): Promise<void> {
  const names = await readdir(folder)
  const files = names.filter((name) => OWN_NAME.test(name)).map((name) => join(folder, name))
  const latestMs = Date.now() + AHEAD_MS
  const times = await Promise.all(
    files.map(async (file) => ({
      file,
      atMs: await stat(file).then(
        ({ mtimeMs }) => (mtimeMs > latestMs ? 0 : mtimeMs),
        () => 0,
      ),
    })),
  )
  const old = times.sort((one, other) => other.atMs - one.atMs).slice(MAX_FILES)
  await Promise.all(old.map(({ file }) => rm(file, { force: true, recursive: true })))
}

/** Returns a digest of the contents and the name, which detects renamed files. */
function sumOf(name: string, bytes: Uint8Array): Buffer {
  return createHash('sha256').update(name).update(bytes).digest()
}
