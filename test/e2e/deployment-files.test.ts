import { createServer } from 'node:http'
import { createServer as createSecureServer } from 'node:https'
import type { AddressInfo, Server } from 'node:net'
import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, mkdtempSync, readFileSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

import { afterAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

import { CertificateAuthority, canMakeCertificates } from '../support/certificates.js'
import { findProgram, runProgram } from '../support/find-program.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const CHART = 'build/chart/tidegate'
/** A helm that was built from its sources takes an old one for granted. */
const KUBERNETES = '1.31.0'
/**
 * `systemd-analyze security` gives 0 for a unit that may do nothing and 10 for one that may do
 * everything.
 */
const MAX_EXPOSURE = 2
const helm = findProgram('helm')
const systemd = findProgram('systemd-analyze')
const readText = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8')
const { version } = JSON.parse(readText('package.json')) as { version: string }

const TOKEN = { name: 'orca', roles: ['orchestrator'], sha256: 'a'.repeat(64) }
const Resource = z.object({ kind: z.string(), metadata: z.object({ name: z.string() }) }).loose()

describe.skipIf(helm === undefined)('the chart (needs helm on PATH)', () => {
  const workspace = makeWorkspace()
  afterAll(workspace.remove)
  const render = (values: object): ReturnType<typeof runProgram> => {
    const folder = workspace.write({ 'values.json': JSON.stringify(values) })
    return runProgram(
      helm ?? '',
      ['template', 'tg', CHART, '--kube-version', KUBERNETES, '-f', join(folder, 'values.json')],
      PROJECT_ROOT,
    )
  }
  const resourcesOf = (output: string): z.infer<typeof Resource>[] =>
    parseAllDocuments(output)
      .map((document) => document.toJS() as unknown)
      .filter((value) => value !== null)
      .map((value) => Resource.parse(value))

  /** The configuration file of a rendered chart, as the program reads it. */
  const configurationIn = async (output: string): Promise<unknown> => {
    const config = resourcesOf(output).find(
      ({ kind, metadata }) => kind === 'ConfigMap' && metadata.name === 'tg-tidegate',
    )
    const text = z.object({ 'tidegate.yaml': z.string() }).parse(config?.['data'])['tidegate.yaml']
    const file = join(workspace.write({ 'tidegate.yaml': text }), 'tidegate.yaml')
    const { exitCode, stdout, stderr } = await runTidegate(['config', '--config', file, '--format', 'json'])
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' })
    return JSON.parse(stdout)
  }

  it('prints the version of the program', () => {
    const chart = parse(readText(`${CHART}/Chart.yaml`)) as { version: string; appVersion: string }
    expect(chart).toMatchObject({ version, appVersion: version })
  })

  it('is refused if anyone could do everything', () => {
    const { succeeded, output } = render({})
    expect(succeeded).toBe(false)
    expect(output).toContain('list who may call in auth.tokens')
  })

  it('renders all that a service needs, with a configuration that the program takes', async () => {
    const { succeeded, output } = render({
      auth: { tokens: [TOKEN] },
      policies: { 'main.rego': 'package system\n\nmain := {"allow": true}\n' },
      secretEnvironment: { TIDEGATE_LOG_LEVEL: 'warn' },
      serviceMonitor: { enabled: true, tokenKey: 'metrics' },
      prometheusRule: { enabled: true, labels: { release: 'monitoring' } },
    })
    expect({ succeeded, output: succeeded ? '' : output }).toEqual({ succeeded: true, output: '' })
    const resources = resourcesOf(output)
    expect(resources.map(({ kind }) => kind).sort()).toEqual(
      [
        'ConfigMap',
        'ConfigMap',
        'Deployment',
        'NetworkPolicy',
        'PersistentVolumeClaim',
        'PodDisruptionBudget',
      ]
        .concat(['PrometheusRule', 'Secret', 'Service', 'ServiceAccount', 'ServiceMonitor'])
        .sort(),
    )
    expect(await configurationIn(output)).toMatchObject({
      server: { addr: '0.0.0.0:8181' },
      dataDir: '/data',
      policies: { directories: ['/policies'] },
      auth: { tokens: [{ name: 'orca' }] },
    })
    const container = z
      .object({
        spec: z.object({
          template: z.object({ spec: z.object({ containers: z.array(z.looseObject({})) }) }),
        }),
      })
      .parse(resources.find(({ kind }) => kind === 'Deployment')).spec.template.spec.containers[0]
    expect(container).toMatchObject({
      securityContext: { readOnlyRootFilesystem: true, runAsNonRoot: true, allowPrivilegeEscalation: false },
      readinessProbe: { httpGet: { path: '/health' } },
      livenessProbe: { httpGet: { path: '/livez' } },
    })
  })

  it('uses TLS with the certificate of a secret, also for its health check', () => {
    const values = {
      auth: { tokens: [TOKEN] },
      tls: { secretName: 'tg-tls' },
      serviceMonitor: { enabled: true },
    }
    const { succeeded, output } = render({ ...values, config: { server: { workers: 2 } } })
    expect(succeeded ? '' : output).toBe('')
    expect(output).toContain('tlsCertificate: /tls/tls.crt')
    expect(output).toContain('tlsKey: /tls/tls.key')
    expect(output).toContain('workers: 2')
    expect(output).toContain('secret: { secretName: tg-tls }')
    expect(output.match(/port: http, scheme: HTTPS/g)).toHaveLength(3)
    expect(output).toContain('scheme: https')
    const sidecar = render({ mode: 'sidecar', tls: { secretName: 'tg-tls' } })
    expect(sidecar.output).toContain('a sidecar listens on loopback alone')
  })

  it('requires client certificates with revocation, and serves probes on a separate port', async () => {
    const tls = { secretName: 'tg-tls', clientSecretName: 'tg-clients', clientCrl: true, requireClient: true }
    const addresses = [{ addr: 'unix:/data/api.sock' }]
    const certificates = [{ name: 'echo', roles: ['orchestrator'], subject: 'CN=echo' }]
    const values = {
      ...{ auth: { tokens: [TOKEN] }, tls, serviceMonitor: { enabled: true } },
      config: { server: { addresses }, auth: { certificates } },
    }
    expect(render(values).output).toContain('set service.healthPort, too')
    // Callers that have certificates need no tokens.
    expect(render({ ...values, auth: {}, service: { healthPort: 8081 } })).toMatchObject({ succeeded: true })
    expect(render({ ...values, tls: { ...tls, secretName: '' } }).output).toContain('set tls.secretName, too')
    for (const alone of [{ requireClient: true }, { clientCrl: true }])
      expect(render({ ...values, tls: { secretName: 'tg-tls', ...alone } }).output).toContain(
        'set tls.clientSecretName, too',
      )
    const { succeeded, output } = render({ ...values, service: { healthPort: 8081 } })
    expect(succeeded ? '' : output).toBe('')
    expect(output.match(/port: health, scheme: HTTP }/g)).toHaveLength(3)
    expect(output).toContain('- port: health\n      path: /metrics\n      interval')
    expect(output).toContain('{ name: tls-clients, mountPath: /tls-clients, readOnly: true }')
    expect(output).toContain('secret: { secretName: tg-clients }')
    expect(await configurationIn(output)).toMatchObject({
      server: {
        ...{
          tlsClientCa: '/tls-clients/ca.crt',
          tlsClientCrl: '/tls-clients/ca.crl',
          tlsRequireClient: true,
        },
        addresses: [...addresses, { addr: '0.0.0.0:8081', serves: 'health', tls: false }],
      },
      auth: { certificates },
    })
  })

  it('makes no service of its own for a sidecar, which listens on loopback', () => {
    const { output } = render({ mode: 'sidecar' })
    expect(resourcesOf(output).map(({ kind }) => kind)).toEqual(['ConfigMap', 'PersistentVolumeClaim'])
    expect(output).toContain('addr: 127.0.0.1:8181')
  })

  it('has nothing that helm itself would mend', () => {
    const folder = workspace.write({ 'lint.json': JSON.stringify({ auth: { tokens: [TOKEN] } }) })
    expect(
      runProgram(
        helm ?? '',
        ['lint', '--strict', CHART, '--kube-version', KUBERNETES, '-f', join(folder, 'lint.json')],
        PROJECT_ROOT,
      ),
    ).toMatchObject({
      succeeded: true,
    })
  })
})

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
