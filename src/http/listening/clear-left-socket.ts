import { lstat, unlink } from 'node:fs/promises'
import { connect } from 'node:net'

import { AppError, hasErrorCode } from '../../errors/app-error.js'

const CONNECT_MS = 1000

/**
 * Takes away the socket that a killed process left at a path. Raises `unavailable` where somebody listens on it, or where something else is
 * there, which is left alone.
 */
export async function clearLeftSocket(path: string): Promise<void> {
  const stats = await lstat(path).catch((raw: unknown) => {
    if (hasErrorCode(raw, 'ENOENT')) return undefined
    throw raw
  })
  if (stats === undefined) return
  if (!stats.isSocket()) throw new AppError('unavailable', 'something that is no socket is there already')
  if (!(await isLeft(path))) throw new AppError('unavailable', 'another program listens there')
  await unlink(path).catch((raw: unknown) => {
    if (!hasErrorCode(raw, 'ENOENT')) throw raw
  })
}

/** Whether nobody listens: whatever else keeps us from connecting says nothing. */
function isLeft(path: string): Promise<boolean> {
  return new Promise((resolve) => {
    const socket = connect(path)
    const settle = (left: boolean): void => {
      socket.destroy()
      resolve(left)
    }
    socket.setTimeout(CONNECT_MS, () => settle(false))
    socket.once('connect', () => settle(false))
    socket.once('error', (raw) => settle(hasErrorCode(raw, 'ECONNREFUSED')))
  })
}
