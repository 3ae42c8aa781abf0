import { spawn } from 'node:child_process'
import type { ChildProcess } from 'node:child_process'
import { existsSync } from 'node:fs'

const SHELL = '/bin/sh'
/**
 * Reads the group, and then waits until the pipe closes, which happens when this process ends, even
 * by SIGKILL.
 */
const KILL_AT_END = 'read -r group && { read -r _; kill -9 "-$group" 2> /dev/null; }'

/** Ends a process group with this process, until released. */
export interface ProcessGroupGuard {
  readonly guard: (leader: number | undefined) => void
  readonly release: () => void
}

/**
 * Starts a guard that ends a process group when this process ends, even by SIGKILL. It needs a
 * shell. The container image has none, but there the system ends all processes with the first one.
 */
export function startGroupGuard(): ProcessGroupGuard {
  if (process.platform === 'win32' || !existsSync(SHELL))
    return { guard: () => undefined, release: () => undefined }
  const shell = spawn(SHELL, ['-c', KILL_AT_END], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C signals the group of this process and must not end the guard first.
    detached: true,
  })
  shell.on('error', () => undefined)
  shell.stdin.on('error', () => undefined)
  shell.unref()
  return {
    guard: (leader) => {
      if (leader !== undefined) shell.stdin.write(`${leader}\n`)
    },
    release: () => void shell.kill('SIGKILL'),
  }
}

/** Ends a process and all processes it started. */
export function killProcessGroup(leader: ChildProcess): void {
  const { pid } = leader
  if (pid === undefined) return
  try {
    if (process.platform === 'win32') leader.kill('SIGKILL')
    else process.kill(-pid, 'SIGKILL')
  } catch {
    // The process has ended already.
  }
}
