import type { Server } from 'node:http'
import { lstat, mkdir, stat } from 'node:fs/promises'
import { dirname } from 'node:path'

import { AppError } from '../../errors/app-error.js'
import { BACKLOG } from '../listening/start-listening.js'

/** How often it looks whether the socket is still at its path, in milliseconds. */
const LOOK_MS = 1000

/** Has a server listen at a path of the file system, and again where something that tidies up has removed it. */
export class RelaySocket {
  readonly #server: Server
  readonly #path: string
  /** Of the socket; undefined where it was removed before it could be looked at. */
  #inode: number | undefined
  /** Of the folder that it is in. */
  #owner: number | undefined
  #isReachable = false
  #looks: NodeJS.Timeout | undefined
  #looking: Promise<void> = Promise.resolve()

  constructor(server: Server, path: string) {
    this.#server = server
    this.#path = path
  }

  get isReachable(): boolean {
    return this.#isReachable
  }

  /** Raises `unavailable` where it cannot listen there. */
  async open(): Promise<void> {
    await this.#listen()
    this.#owner = await ownerOf(dirname(this.#path))
    const look = (): void => void (this.#looking = this.#looking.then(() => this.#look()))
    this.#looks = setInterval(look, LOOK_MS).unref()
  }

  /** From now on the server is its caller's to close. */
  async leave(): Promise<void> {
    clearInterval(this.#looks)
    await this.#looking
  }

  async #look(): Promise<void> {
    if (this.#isReachable && this.#inode !== undefined && (await inodeAt(this.#path)) === this.#inode) return
    this.#isReachable = false
    // Running requests continue; idle connections end, and workers open others.
    this.#server.close()
    try {
      const folder = dirname(this.#path)
      await mkdir(folder, { recursive: true, mode: 0o700 })
      // In a folder of another user, who made it first, that user could take the place of either side.
      if ((await ownerOf(folder)) === this.#owner) await this.#listen()
    } catch {
      // The next look tries again.
    }
  }

  async #listen(): Promise<void> {
    const server = this.#server
    await new Promise<void>((resolve, reject) => {
      const fails = (cause: Error): void => {
        server.off('listening', listens)
        reject(cannotListen(cause))
      }
      const listens = (): void => {
        server.off('error', fails)
        resolve()
      }
      server.once('error', fails).once('listening', listens).listen(this.#path, BACKLOG)
    })
    this.#inode = await inodeAt(this.#path)
    this.#isReachable = true
  }
}

/** The user that a folder belongs to; undefined for anything else, a link to a folder included. */
async function ownerOf(path: string): Promise<number | undefined> {
  const stats = await lstat(path)
  return stats.isDirectory() ? stats.uid : undefined
}

/** Undefined where there is nothing. */
async function inodeAt(path: string): Promise<number | undefined> {
  try {
    return (await stat(path)).ino
  } catch {
    return undefined
  }
}

function cannotListen(cause: Error): AppError {
  return new AppError('unavailable', `cannot listen for other processes of the service: ${cause.message}`, {
    cause,
  })
}
