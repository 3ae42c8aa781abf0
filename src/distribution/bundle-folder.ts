import { createHash, randomUUID } from 'node:crypto'
import { mkdir, readFile, readdir, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { parseJson } from '../lib/json/text/parse-json.js'

import { z } from 'zod'

/** Only the service may read or write bundles, since they decide. */
const [FOLDER_MODE, FILE_MODE] = [0o700, 0o600]
const STATE_FILE = 'state.json'
/** Number of bundles that are kept, for replays and for going back. */
const MAX_KEPT = 5

const Kept = z.object({
  digest: z.string().regex(/^[\da-f]{64}$/),
  revision: z.string(),
  version: z.string().optional(),
  /** Epoch milliseconds. */
  activatedMs: z.number(),
})
const State = z.object({
  /** The address that the versions belong to. */
  from: z.string(),
  /** The newest first; that one serves. */
  bundles: z.array(Kept),
})

/** A bundle that serves or served before. */
export type KeptBundle = z.output<typeof Kept>

/** A bundle in a file. */
export interface StoredBundle {
  /** SHA-256 in hex. */
  readonly digest: string
  readonly file: string
}

/** The bundles of one source in a folder, so that a start without the server can serve the last. */
export class BundleFolder {
  readonly #folder: string
  readonly #from: string
  #kept: readonly KeptBundle[] = []

  /** `from` identifies the server: versions of another one are not sent to it. */
  constructor(folder: string, from: string) {
    this.#folder = folder
    this.#from = from
  }

  /** The bundles that serve or served, the newest first. */
  get kept(): readonly KeptBundle[] {
    return this.#kept
  }

  /** Reads what an earlier process kept. Bundles that are missing or damaged are left out. */
  async read(): Promise<void> {
    const text = await readFile(join(this.#folder, STATE_FILE), 'utf8').catch(() => undefined)
    const { from, bundles } = State.safeParse(parseJson(text ?? '')).data ?? { from: '', bundles: [] }
    const whole: KeptBundle[] = []
    for (const bundle of bundles) if (await this.#isWhole(bundle.digest)) whole.push(bundle)
    this.#kept = from === this.#from ? whole : whole.map((bundle) => ({ ...bundle, version: undefined }))
    const files = new Set([STATE_FILE, ...whole.map(({ digest }) => `${digest}.tar.gz`)])
    for (const name of await readdir(this.#folder).catch(() => []))
      if (!files.has(name)) await rm(join(this.#folder, name), { force: true, recursive: true })
  }

  /** Returns the same folder for another server, which does not know the versions. */
  forServer(from: string): BundleFolder {
    const folder = new BundleFolder(this.#folder, from)
    folder.#kept =
      from === this.#from ? this.#kept : this.#kept.map((bundle) => ({ ...bundle, version: undefined }))
    return folder
  }

  fileOf(digest: string): string {
    return join(this.#folder, `${digest}.tar.gz`)
  }

  /** Writes a bundle, which does not serve yet. */
  async store(bytes: Uint8Array): Promise<StoredBundle> {
    const digest = digestOf(bytes)
    const file = this.fileOf(digest)
    await this.#write(file, bytes)
    return { digest, file }
  }

  /** Notes that a stored bundle serves, and removes the oldest. */
  async keep(bundle: KeptBundle): Promise<void> {
    const others = this.#kept.filter(({ digest }) => digest !== bundle.digest)
    const all = [bundle, ...others]
    this.#kept = all.slice(0, MAX_KEPT)
    const state = { from: this.#from, bundles: this.#kept }
    await this.#write(join(this.#folder, STATE_FILE), JSON.stringify(state))
    for (const { digest } of all.slice(MAX_KEPT)) await this.discard(digest)
  }

  /** Removes a stored bundle, unless it serves or served. */
  async discard(digest: string): Promise<void> {
    if (!this.#kept.some((bundle) => bundle.digest === digest)) await rm(this.fileOf(digest), { force: true })
  }

  async #isWhole(digest: string): Promise<boolean> {
    const bytes = await readFile(this.fileOf(digest)).catch(() => undefined)
    return bytes !== undefined && digestOf(bytes) === digest
  }

  async #write(file: string, content: Uint8Array | string): Promise<void> {
    const temporary = `${file}.${randomUUID()}.tmp`
    await mkdir(this.#folder, { recursive: true, mode: FOLDER_MODE })
    try {
      await writeFile(temporary, content, { mode: FILE_MODE, flush: true })
      await rename(temporary, file)
    } catch (raw) {
      await rm(temporary, { force: true })
      throw raw
    }
  }
}

function digestOf(bytes: Uint8Array): string {
  return createHash('sha256').update(bytes).digest('hex')
}
