import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { gunzip, gzip } from 'node:zlib'
import { z } from 'zod'

import type { DataFile } from '../data/load-data.js'
import type { RegoFile } from '../modules/rego-module.js'
import { spellNumbers } from '../workarounds/numbers-without-integer-part.js'
import { Pinned, readPin, Staged } from './pinned-revision.js'
import type { PinnedRevision, StagedPin } from './pinned-revision.js'
import { RevisionActivation } from './revision-activation.js'
import type { KeptRevision } from './revision-activation.js'

/** The sources of a revision of the policies. */
export interface RevisionSources {
  readonly revision: string
  readonly rego: readonly RegoFile[]
  readonly data: readonly DataFile[]
  /** Names of bundles without Rego. */
  readonly withoutRego: readonly string[]
  /** True if a stored revision serves again by a pin, and not because files or bundles changed. */
  readonly isPinned?: boolean
  /** True if it answers a share of requests and may never serve. */
  readonly isStaged?: boolean
}

/** Stored sources of a revision. */
export interface KeptSources extends RevisionSources {
  /** Size of data files that were too large to store, in bytes; 0 if all are stored. */
  readonly dataBytesLeftOut: number
}

interface StoredManifest {
  readonly name: string
  readonly manifest: Manifest
}

export interface KeptRevisionsOptions {
  /** Largest size of all files in bytes; 0 stores nothing. */
  readonly maxBytes: number
  /** Age in milliseconds after which a revision that no longer serves is removed. */
  readonly maxAgeMs: number
  readonly now: () => number
}

const Manifest = z.object({
  revision: z.string(),
  /** When it served first and last, in epoch milliseconds. */
  sinceMs: z.number(),
  untilMs: z.number(),
  rego: z.array(z.object({ file: z.string(), digest: z.string() })),
  data: z.array(
    z.object({
      file: z.string(),
      at: z.array(z.string()),
      digest: z.string(),
      edit: z.enum(['put', 'remove']).optional(),
    }),
  ),
  withoutRego: z.array(z.string()),
  dataBytesLeftOut: z.number(),
  activations: z.array(RevisionActivation).default([]),
  hasServed: z.boolean().default(true),
})
type Manifest = z.output<typeof Manifest>

/** Only the service may read or write sources, because they explain its decisions. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600]
const MANIFEST = /^[\da-f]{64}\.json$/
const PINNED_FILE = 'pinned.json'
const STAGED_PIN_FILE = 'staged-pin.json'
const CONTENT = /^[\da-f]{64}\.gz$/
/** Activations that are stored with a revision. */
const MAX_ACTIVATIONS = 20
/** Share of the space that the data of one revision may take. */
const DATA_SHARE = 0.25

const compress = promisify(gzip)
const decompress = promisify(gunzip)

/**
 * The sources of the revisions that served, in a folder: each file once by its digest, and a list
 * of files for each revision. The revisions that served last stay.
 */
export class KeptRevisions {
  readonly #folder: string
  readonly #options: KeptRevisionsOptions
  #work: Promise<void> = Promise.resolve()
  #current: string | undefined

  constructor(folder: string, options: KeptRevisionsOptions) {
    this.#folder = folder
    this.#options = options
  }

  /**
   * Stores the sources of a revision that serves from now on, and removes old ones. Rejects with an
   * error of the file system.
   */
  keep(sources: RevisionSources): Promise<void> {
    const work = this.#work.then(() => this.#keep(sources))
    this.#work = work.catch(() => undefined)
    return work
  }

  /**
   * Returns the sources of a revision that served at a time, in epoch milliseconds; undefined if
   * they are not stored. Damaged sources count as not stored.
   */
  async read(revision: string, atMs: number): Promise<KeptSources | undefined> {
    await this.#work
    const all = (await this.#manifests()).filter(({ manifest }) => manifest.revision === revision)
    const served = all.filter(({ manifest }) => manifest.sinceMs <= atMs)
    return await this.#readable((served.length > 0 ? served : all).toSorted(bySince).at(-1))
  }

  async #readable(stored: StoredManifest | undefined): Promise<KeptSources | undefined> {
    return stored && (await this.#sourcesOf(stored.manifest).catch(() => undefined))
  }

  /**
   * Returns the sources of the revision that serves; after a start, of the one that served last.
   * Undefined if they are not stored. Damaged sources count as not stored.
   */
  async lastServed(): Promise<KeptSources | undefined> {
    await this.#work
    return await this.#readable(await this.#former())
  }

  /** Returns the stored revisions, those that served first last. */
  async served(): Promise<readonly KeptRevision[]> {
    await this.#work
    return (await this.#manifests())
      .toSorted((a, b) => bySince(b, a))
      .map(({ name, manifest: { revision, sinceMs, untilMs, activations, hasServed } }) => {
        const isServing = name === this.#current
        return { revision, sinceMs, untilMs, isServing, activations, hasServed }
      })
  }

  /**
   * Stores how the revision that serves began to serve. Rejects with an error of the file system.
   */
  note(activation: RevisionActivation): Promise<void> {
    const work = this.#work.then(() => this.#note(activation))
    this.#work = work.catch(() => undefined)
    return work
  }

  async #note(activation: RevisionActivation): Promise<void> {
    const name = this.#current
    const manifest = name && (await this.#manifest(name))
    if (name === undefined || !manifest) return
    const activations = [...manifest.activations, activation].slice(-MAX_ACTIVATIONS)
    await this.#write(name, Buffer.from(JSON.stringify({ ...manifest, activations })))
  }

  /** Returns the pinned revision. Rejects if the file cannot be read or is damaged. */
  async pinned(): Promise<PinnedRevision | undefined> {
    return await readPin(join(this.#folder, PINNED_FILE), Pinned)
  }

  /** Stores which revision the next start serves; undefined for the configured policies. */
  async setPinned(pinned: PinnedRevision | undefined): Promise<void> {
    await this.#writePin(PINNED_FILE, pinned)
  }

  /** Returns the pin whose stage had not ended. Rejects as `pinned`. */
  async stagedPin(): Promise<StagedPin | undefined> {
    return await readPin(join(this.#folder, STAGED_PIN_FILE), Staged)
  }

  /** Stores the pin whose stage the next start repeats; undefined for none. */
  async setStagedPin(pin: StagedPin | undefined): Promise<void> {
    await this.#writePin(STAGED_PIN_FILE, pin)
  }

  async #writePin(file: string, pin: StagedPin | undefined): Promise<void> {
    if (pin === undefined) await rm(join(this.#folder, file), { force: true })
    else await this.#write(file, Buffer.from(JSON.stringify(pin)))
  }

  async #keep(sources: RevisionSources): Promise<void> {
    const { revision, rego, data, withoutRego, isPinned = false, isStaged = false } = sources
    const { maxBytes, now } = this.#options
    if (maxBytes === 0) return
    await mkdir(this.#folder, { recursive: true, mode: FOLDER_MODE })
    const dataBytes = data.reduce((sum, { content }) => sum + content.length, 0)
    const keptData = dataBytes > maxBytes * DATA_SHARE ? [] : data
    const nowMs = now()
    const identity = {
      revision,
      rego: await Promise.all(
        rego.map(async ({ file, text, source = text }) => ({
          file,
          digest: await this.#store(Buffer.from(source)),
        })),
      ),
      data: await Promise.all(
        keptData.map(async ({ file, at, content, edit }) => ({
          ...{ file, edit, at: [...at] },
          digest: await this.#store(Buffer.from(content)),
        })),
      ),
      withoutRego: [...withoutRego],
      dataBytesLeftOut: keptData === data ? 0 : dataBytes,
    }
    const name = `${digestOf(Buffer.from(JSON.stringify(identity)))}.json`
    const manifest: Manifest = {
      ...identity,
      sinceMs: nowMs,
      untilMs: nowMs,
      activations: [],
      hasServed: !isStaged,
    }
    if (isStaged) {
      if ((await this.#manifest(name)) === undefined)
        await this.#write(name, Buffer.from(JSON.stringify(manifest)))
      await this.#removeOld()
      return
    }
    const former = await this.#former()
    // A revision that comes back after another one is the newest: a rollback goes to the other one.
    const stored = isPinned || former?.name === name ? await this.#manifest(name) : undefined
    const known = stored?.hasServed === true ? stored : undefined
    const { sinceMs = nowMs, activations = [] } = known ?? {}
    await this.#write(name, Buffer.from(JSON.stringify({ ...manifest, sinceMs, activations })))
    if (former !== undefined && former.name !== name)
      await this.#write(former.name, Buffer.from(JSON.stringify({ ...former.manifest, untilMs: nowMs })))
    this.#current = name
    await this.#removeOld()
  }

  /** Returns the revision that serves. After a start it is the one that served last. */
  async #former(): Promise<StoredManifest | undefined> {
    const all = await this.#manifests()
    return (
      all.find(({ name }) => name === this.#current) ??
      all
        .filter(({ manifest }) => manifest.hasServed)
        .toSorted((a, b) => a.manifest.untilMs - b.manifest.untilMs || bySince(a, b))
        .at(-1)
    )
  }

  /** Stores a content by its digest, and returns the digest. */
  async #store(content: Uint8Array): Promise<string> {
    const digest = digestOf(content)
    const file = `${digest}.gz`
    const isStored = await stat(join(this.#folder, file)).then(
      (found) => found.isFile(),
      () => false,
    )
    if (!isStored) await this.#write(file, await compress(content))
    return digest
  }

  async #write(name: string, bytes: Uint8Array): Promise<void> {
    const path = join(this.#folder, name)
    const partial = `${path}.${randomUUID()}.tmp`
    await writeFile(partial, bytes, { mode: FILE_MODE })
    await rename(partial, path)
  }

  async #sourcesOf({ revision, rego, data, withoutRego, dataBytesLeftOut }: Manifest): Promise<KeptSources> {
    const [texts, contents] = await Promise.all([
      Promise.all(
        rego.map(async ({ file, digest }) => toRegoFile(file, (await this.#read(digest)).toString())),
      ),
      Promise.all(
        data.map(async ({ file, at, digest, edit }) => ({
          ...{ file, at, content: await this.#read(digest) },
          ...(edit !== undefined && { edit }),
        })),
      ),
    ])
    return { revision, rego: texts, data: contents, withoutRego, dataBytesLeftOut }
  }

  /** Raises an error for a content that is missing or damaged. */
  async #read(digest: string): Promise<Buffer> {
    const content = await decompress(await readFile(join(this.#folder, `${digest}.gz`)))
    if (digestOf(content) !== digest) throw new Error(`${digest} is damaged`)
    return content
  }

  async #manifest(name: string): Promise<Manifest | undefined> {
    try {
      return Manifest.parse(JSON.parse(await readFile(join(this.#folder, name), 'utf8')))
    } catch {
      return undefined
    }
  }

  async #manifests(): Promise<StoredManifest[]> {
    const names = await readdir(this.#folder).catch(() => [])
    const found = names
      .filter((name) => MANIFEST.test(name))
      .map(async (name) => ({ name, manifest: await this.#manifest(name) }))
    return (await Promise.all(found)).flatMap(({ name, manifest }) => (manifest ? [{ name, manifest }] : []))
  }

  /** Removes the revisions that served longest ago until the rest is within the limits. */
  async #removeOld(): Promise<void> {
    const { maxBytes, maxAgeMs, now } = this.#options
    const oldestMs = now() - maxAgeMs
    const all = (await this.#manifests()).toSorted((a, b) => b.manifest.untilMs - a.manifest.untilMs)
    const sizes = new Map<string, number>()
    for (const name of await readdir(this.#folder)) {
      if (CONTENT.test(name)) sizes.set(name.slice(0, -3), (await stat(join(this.#folder, name))).size)
    }
    const needed = new Set<string>()
    let bytes = 0
    let isFull = false
    for (const { name, manifest } of all.toSorted(
      (a, b) => Number(b.name === this.#current) - Number(a.name === this.#current),
    )) {
      const added = [...manifest.rego, ...manifest.data].filter(({ digest }) => !needed.has(digest))
      bytes += added.reduce((sum, { digest }) => sum + (sizes.get(digest) ?? 0), 0)
      const isCurrent = name === this.#current
      isFull ||= !isCurrent && bytes > maxBytes
      if (isFull || (!isCurrent && manifest.untilMs < oldestMs))
        await rm(join(this.#folder, name), { force: true })
      else added.forEach(({ digest }) => needed.add(digest))
    }
    for (const digest of sizes.keys())
      if (!needed.has(digest)) await rm(join(this.#folder, `${digest}.gz`), { force: true })
  }
}

function toRegoFile(file: string, source: string): RegoFile {
  const text = spellNumbers(source)
  return text === source ? { file, text } : { file, text, source }
}

function bySince(a: { readonly manifest: Manifest }, b: { readonly manifest: Manifest }): number {
  return a.manifest.sinceMs - b.manifest.sinceMs
}

function digestOf(content: Uint8Array): string {
  return createHash('sha256').update(content).digest('hex')
}
