import { readFileSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from 'vitest'

import { CertificateAuthority, canMakeCertificates } from '../support/certificates.js'
import type { CertificateFiles } from '../support/certificates.js'
import { runTidegate } from '../support/run-tidegate.js'
import { startTidegate } from '../support/tidegate-process.js'
import type { TidegateProcess } from '../support/tidegate-process.js'
import { makeWorkspace } from '../support/workspace.js'
import type { Workspace } from '../support/workspace.js'

let keys: Workspace | undefined
let ca: string
let server: CertificateFiles
let echo: CertificateFiles
let workspace: Workspace
let tidegate: TidegateProcess | undefined

beforeAll(() => {
  if (!canMakeCertificates) return
  keys = makeWorkspace()
  const own = new CertificateAuthority(keys.path)
  ca = own.certificate
  server = own.make('server', { subject: '/CN=tidegate', names: 'DNS:localhost,IP:127.0.0.1' })
  echo = own.make('echo', { subject: '/O=Example/CN=echo' })
})

beforeEach(() => {
  workspace = makeWorkspace({ 'policies/app.rego': 'package app\n\nimport rego.v1\n\nallow := true\n' })
})

afterEach(async () => {
  await tidegate?.end('SIGKILL')
  workspace.remove()
})

afterAll(() => keys?.remove())

async function start(
  more: Record<string, unknown> = {},
  openToOrchestrator = false,
): Promise<TidegateProcess> {
  const tls = { tlsCertificate: server.certificate, tlsKey: server.key, tlsClientCa: ca }
  const certificates = [{ name: 'echo', roles: ['orchestrator'], subject: 'CN=echo, O=Example' }]
  tidegate = await startTidegate({
    workspace,
    config: { server: { ...tls, ...more }, auth: { certificates, openToOrchestrator } },
  })
  return tidegate
}

const shown = (): string[] => ['--client-certificate', echo.certificate, '--client-key', echo.key]

describe.skipIf(!canMakeCertificates)('the command line, where a service speaks TLS', () => {
  test('explains how to configure the authority', async () => {
    const { url } = await start()
    const { stderr } = await runTidegate(['gates', 'list', '--url', url])
    expect(stderr).toContain('give --ca-file FILE, the certificate of its authority')
  })

  test('names its unusable file, and does not blame the service', async () => {
    const broken = join(workspace.path, 'broken.pem')
    writeFileSync(broken, readFileSync(echo.certificate, 'utf8').slice(0, 200))
    const { certificate, key } = echo
    const stderrOf = async (flags: string[]): Promise<string> =>
      (await runTidegate(['gates', 'list', '--url', 'https://127.0.0.1:1', ...flags])).stderr
    expect(await stderrOf(['--ca-file', broken])).toContain('--ca-file')
    expect(await stderrOf(['--client-certificate', broken, '--client-key', key])).toContain(
      'it contains no PEM certificate',
    )
    expect(await stderrOf(['--client-certificate', certificate, '--client-key', broken])).toContain(
      'it contains no PEM private key',
    )
    expect(await stderrOf(['--client-certificate', certificate, '--client-key', server.key])).toContain(
      `--client-key (${server.key}) cannot be used: it is not the private key of the certificate in ${certificate}`,
    )
  })

  test('explains that a service that hangs up may need a certificate, which plugins cannot send', async () => {
    const { url } = await start({
      tlsRequireClient: true,
      addresses: [{ addr: '127.0.0.1:0', serves: 'health', tls: false }],
    })
    const named = ['--url', url, '--ca-file', ca]
    expect((await runTidegate(['gates', 'list', ...named])).stderr).toContain('pass --client-certificate')
    const { stdout } = await runTidegate(['orchestrator', 'doctor', ...named, ...shown()])
    expect(stdout).toContain('WRONG    service: requires a client certificate')
  })
})

describe.skipIf(!canMakeCertificates)('the doctor', () => {
  test('calls like plugins, without its certificate', async () => {
    const { url } = await start()
    const named = ['--url', url, '--ca-file', ca]
    const { stdout } = await runTidegate(['orchestrator', 'doctor', ...named, ...shown()])
    expect(stdout).toContain('WRONG    saved pipelines: refused')
  })

  test('reaches, by the authority that it is given, where stages are sent', async () => {
    const { url } = await start({}, true)
    const { stdout } = await runTidegate(['orchestrator', 'doctor', '--url', url, '--ca-file', ca])
    expect(stdout).toContain(`ok       gates of stages: stages are sent to ${url}`)
  })

  test('calls the service of the configuration by default, preferably at a socket', async () => {
    const socket = `unix:${join(workspace.path, 's')}`
    await start({ addresses: [{ addr: socket }] })
    const config = ['--config', join(workspace.path, 'tidegate.json')]
    const { stdout } = await runTidegate(['doctor', ...config], { cwd: workspace.path })
    expect(stdout).toContain(`responds at ${socket}`)
  })

  test('finds nothing wrong with an address that serves health alone', async () => {
    const { log } = await start({ addresses: [{ addr: '127.0.0.1:0', serves: 'health', tls: false }] })
    const urls = log().find(({ msg }) => msg === 'serving')?.['urls']
    const url = (urls as string[]).find((text) => text.startsWith('http:')) ?? ''
    const { stdout } = await runTidegate(['doctor', '--url', url], { cwd: workspace.path })
    expect(stdout).not.toContain('WRONG')
  })
})
