import { watch } from 'node:fs'
import type { FSWatcher } from 'node:fs'
import { stat } from 'node:fs/promises'
import { basename, join, sep } from 'node:path'

import { hasErrorCode, toError } from '../../errors/app-error.js'
import { ShortTurns } from '../../lib/turns/short-turns.js'
import { isSourceFile } from '../compile/files/list-source-files.js'

/** The listeners of a watch. */
export interface WatchListeners {
  /** Called when a source file, or a root, was changed, added or removed. */
  readonly changed: () => void
  /**
   * Called when a directory was added, removed or replaced, so that the files and the paths to
   * watch may differ.
   */
  readonly rearranged: () => void
  /** Called with a path that cannot be watched; its changes are no longer reported. */
  readonly unwatched: (error: Error) => void
}

/** A watch on directories and single files, without recursion. */
export class DirectoryWatch {
  readonly #roots: readonly string[]
  readonly #listeners: WatchListeners
  #watchers = new Map<string, FSWatcher>()
  #isEnded = false

  /** `roots` are the directories and files of policies. Watches nothing until `cover` is called. */
  constructor(roots: readonly string[], listeners: WatchListeners) {
    this.#roots = roots
    this.#listeners = listeners
  }

  /**
   * Watches exactly these paths from now on. Returns true if one was not watched before, so that
   * changes may have been missed.
   */
  async cover(paths: readonly string[]): Promise<boolean> {
    const [wanted, turns] = [new Set(paths), new ShortTurns()]
    for (const path of [...this.#watchers.keys()]) {
      if (!wanted.has(path)) this.#leave(path)
      await turns.pause()
    }
    let isAnyNew = false
    for (const path of wanted) {
      if (!this.#isEnded && !this.#watchers.has(path) && this.#watch(path)) isAnyNew = true
      await turns.pause()
    }
    return isAnyNew
  }

  /** Stops watching until paths are covered again, since other files may have the names now. */
  async forget(): Promise<void> {
    const [watchers, turns] = [this.#watchers, new ShortTurns()]
    this.#watchers = new Map()
    for (const watcher of watchers.values()) {
      watcher.close()
      await turns.pause()
    }
  }

  async close(): Promise<void> {
    this.#isEnded = true
    await this.forget()
  }

  #watch(path: string): boolean {
    try {
      const watcher = watch(path, (event, name) => this.#report(path, event, name))
      watcher.on('error', (raw) => this.#fail(path, raw))
      this.#watchers.set(path, watcher)
      return true
    } catch (raw) {
      // The next listing of the directories leaves out removed paths.
      if (!hasErrorCode(raw, 'ENOENT') && !hasErrorCode(raw, 'ENOTDIR')) this.#fail(path, raw)
      return false
    }
  }

  /**
   * An exhausted limit on files or watches must not end the service. More watches would fail, too.
   */
  #fail(path: string, raw: unknown): void {
    this.#leave(path)
    this.#isEnded = true
    this.#listeners.unwatched(toError(raw))
  }

  #leave(path: string): void {
    this.#watchers.get(path)?.close()
    this.#watchers.delete(path)
  }

  #report(path: string, event: string, name: string | null): void {
    // Watches report the path itself by its own name.
    const file = name === null || name === basename(path) ? path : join(path, name)
    const isMoved = event === 'rename'
    const wasWatched = this.#watchers.has(file)
    if (isMoved && wasWatched) this.#leaveBelow(file)
    if (this.#roots.includes(file) || isSourceFile(file)) this.#listeners.changed()
    else if (isMoved && wasWatched) this.#listeners.rearranged()
    else if (isMoved && !isPassedOver(file)) void this.#reportDirectory(file)
  }

  /** Another file or directory may get the name soon. */
  #leaveBelow(path: string): void {
    this.#leave(path)
    for (const watched of this.#watchers.keys()) if (watched.startsWith(path + sep)) this.#leave(watched)
  }

  async #reportDirectory(path: string): Promise<void> {
    const found = await stat(path).catch(() => undefined)
    if (found?.isDirectory() === true) this.#listeners.rearranged()
  }
}

function isPassedOver(path: string): boolean {
  const name = basename(path)
  return name.startsWith('.') || name === 'node_modules'
}
