import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { describe, expect, it } from 'vitest'

import { CertificateAuthority, canMakeCertificates } from '../support/certificates.js'
import { findProgram, runProgram } from '../support/find-program.js'
import { PROJECT_ROOT } from '../support/project-root.js'

/**
 * `systemd-analyze security` gives 0 for a unit that may do nothing and 10 for one that may do
 * everything.
 */
const MAX_EXPOSURE = 2
const systemd = findProgram('systemd-analyze')
const readText = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8')

describe.skipIf(systemd === undefined)('the unit (needs systemd-analyze)', () => {
  it('may do little', () => {
    const { output } = runProgram(
      systemd ?? '',
      ['security', '--offline=true', '--no-pager', 'build/systemd/tidegate.service'],
      PROJECT_ROOT,
    )
    const exposure = /Overall exposure level for tidegate\.service: (?<level>[\d.]+)/.exec(output)?.groups?.[
      'level'
    ]
    expect(Number(exposure)).toBeLessThanOrEqual(MAX_EXPOSURE)
  })
})

describe('the unit', () => {
  it('makes the directories that the pages put sockets and data in', () => {
    const unit = readText('build/systemd/tidegate.service')
    const page = ['secure', 'install'].map((name) => readText(`docs/guides/${name}.md`)).join('')
    const sockets = [...page.matchAll(/unix:(\/run\/[\w-]+)\//g)].map(([, folder = '']) => folder)
    expect(sockets).not.toEqual([])
    for (const folder of sockets) expect(unit).toContain(`RuntimeDirectory=${folder.replace('/run/', '')}\n`)
    expect(page).toContain('--data-dir /var/lib/tidegate')
    expect(unit).toContain('StateDirectory=tidegate\n')
  })
})

describe('the image', () => {
  const file = readText('build/container/Containerfile')

  it('names files that the package has', () => {
    const { files } = JSON.parse(readText('package.json')) as { files: string[] }
    for (const [, path = ''] of file.matchAll(/\/opt\/tidegate\/((?:build|dist)\/[\w./-]+\.js)/g)) {
      expect(existsSync(join(PROJECT_ROOT, path))).toBe(true)
      expect(files.some((folder) => path.startsWith(`${folder}/`))).toBe(true)
    }
  })

  it('runs as an unprivileged user, on a Node.js that the package supports', () => {
    expect(file).toMatch(/^USER 65532:65532$/m)
    const { engines } = JSON.parse(readText('package.json')) as { engines: { node: string } }
    const major = /NODE_VERSION=(\d+)/.exec(file)?.[1]
    expect(Number(major)).toBeGreaterThanOrEqual(Number(engines.node.replace('>=', '')))
  })

  it.each([
    [200, 0],
    [503, 1],
  ])('is healthy according to /health: %i exits with %i', async (status, code) => {
    const server = createServer((_, response) => response.writeHead(status).end())
    expect(await endOfHealthCheck(server)).toEqual([code, null])
  })

  it.skipIf(!canMakeCertificates).each([
    [200, 0],
    [503, 1],
  ])('and so where it speaks TLS: %i ends with %i', async (status, code) => {
    const folder = mkdtempSync(join(tmpdir(), 'tidegate-test-'))
    const { certificate, key } = new CertificateAuthority(folder).make('service', { subject: '/CN=tidegate' })
    const files = { cert: readFileSync(certificate), key: readFileSync(key) }
    rmSync(folder, { recursive: true })
    const server = createSecureServer(files, (_, response) => response.writeHead(status).end())
    expect(await endOfHealthCheck(server)).toEqual([code, null])
  })
})

/**
 * Runs the image's health check against a server on a separate port. Resolves with its exit code
 * and signal.
 */
async function endOfHealthCheck(server: Server): Promise<unknown[]> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const { port } = server.address() as AddressInfo
  const check = spawn(process.execPath, [join(PROJECT_ROOT, 'build/container/health-check.js')], {
    env: { TIDEGATE_SERVER_ADDR: `0.0.0.0:${port}` },
  })
  const ended: unknown[] = await once(check, 'exit')
  server.close()
  return ended
}
