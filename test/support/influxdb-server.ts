import { spawn } from 'node:child_process'
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { findProgram } from './find-program.js'
import { freePort } from './free-port.js'
import { ask } from './http-client.js'
import { waitUntil } from './wait-until.js'

const PROGRAM = findProgram('influxd')

/** Suffix of a test name: the reason for skipping it, if any. */
export const influxNote = PROGRAM ? '' : ' (skipped: no influxd here, apt-get install influxdb)'
export const hasInflux = influxNote === ''

/** A real InfluxDB 1 on a free port of loopback, with the points given in line protocol. */
export async function startInflux(
  database: string,
  lines: string,
): Promise<{ url: string; stop: () => Promise<void> }> {
  const directory = mkdtempSync(join(tmpdir(), 'tidegate-influxdb-'))
  const [port, rpcPort] = [await freePort(), await freePort()]
  const config = join(directory, 'influxdb.conf')
  writeFileSync(config, configuration(directory, port, rpcPort))
  const child = spawn(PROGRAM ?? 'influxd', ['-config', config], { stdio: 'ignore' })
  const ended = new Promise((resolve) => child.once('close', resolve))
  const url = `http://127.0.0.1:${port}`
  const post = (path: string, body: string): Promise<{ status: number }> =>
    ask(url, { path, method: 'POST', body, headers: { 'content-type': 'application/x-www-form-urlencoded' } })
  await waitUntil(
    async () => {
      const reply = await post('/query', `q=CREATE+DATABASE+${database}`).catch(() => undefined)
      return reply?.status === 200 ? true : undefined
    },
    () => 'influxd does not serve',
  )
  const { status } = await post(`/write?db=${database}&precision=ms`, lines)
  if (status !== 204) throw new Error(`influxd took no points: ${status}`)
  return {
    url,
    stop: async () => {
      child.kill('SIGKILL')
      await ended
      rmSync(directory, { recursive: true, force: true })
    },
  }
}

function configuration(directory: string, port: number, rpcPort: number): string {
  return `
reporting-disabled = true
bind-address = "127.0.0.1:${rpcPort}"
[meta]
  dir = "${join(directory, 'meta')}"
[data]
  dir = "${join(directory, 'data')}"
  wal-dir = "${join(directory, 'wal')}"
[http]
  enabled = true
  bind-address = "127.0.0.1:${port}"
  log-enabled = false
[monitor]
  store-enabled = false
`
}
