import { spawn } from 'node:child_process'
import type { ChildProcess, ChildProcessByStdio } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Writable } from 'node:stream'

const SHELL = '/bin/sh'
/**
 * Keeps a list of groups until the pipe closes, which happens when this process ends, even by
 * SIGKILL.
 */
const KILL_AT_END = `
groups=
while read -r change group; do
  others=
  for known in $groups; do [ "$known" = "$group" ] || others="$others $known"; done
  groups=$others
  [ "$change" = add ] && groups="$groups $group"
done
for group in $groups; do kill -9 "-$group" 2> /dev/null; done`

/** How long a shell without groups waits for another one, in milliseconds. */
const IDLE_MS = 1000

let running: ChildProcessByStdio<Writable, null, null> | undefined
let guarded = 0
let idle: NodeJS.Timeout | undefined

/**
 * Ends a process group when this process ends, even by SIGKILL, until the returned function is
 * called. One shell guards the groups of consecutive runs, because starting a process takes tens of
 * milliseconds if this one is large. The container image has no shell, but there the system ends
 * all processes with the first one.
 */
export function guardGroup(leader: number | undefined): () => void {
  if (leader === undefined || process.platform === 'win32' || !existsSync(SHELL)) return () => undefined
  const { stdin } = (running ??= startShell())
  clearTimeout(idle)
  guarded += 1
  stdin.write(`add ${leader}\n`)
  return () => {
    stdin.write(`remove ${leader}\n`)
    guarded -= 1
    if (guarded === 0) idle = setTimeout(endShell, IDLE_MS).unref()
  }
}

function endShell(): void {
  running?.stdin.end()
  running = undefined
}

function startShell(): ChildProcessByStdio<Writable, null, null> {
  const shell = spawn(SHELL, ['-c', KILL_AT_END], {
    stdio: ['pipe', 'ignore', 'ignore'],
    // Ctrl-C signals the group of this process and must not end the guard first.
    detached: true,
  })
  shell.on('error', () => undefined)
  shell.once('exit', () => {
    if (running === shell) running = undefined
  })
  shell.stdin.on('error', () => undefined)
  shell.unref()
  return shell
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
