import { statSync } from 'node:fs'

const OTHERS_MAY_WRITE = 0o002

/** Why a data directory is not safe, with what to do; undefined where only its owner and group can write to it. Windows has no such modes. */
export function writableByOthers(dataDir: string): string | undefined {
  if (process.platform === 'win32') return undefined
  const stats = statSync(dataDir, { throwIfNoEntry: false })
  if (stats === undefined || (stats.mode & OTHERS_MAY_WRITE) === 0) return undefined
  return `every user of this machine can replace files in the data directory ${dataDir}: run chmod o-w ${dataDir}`
}
