import { join } from 'node:path'
import { readFileSync } from 'node:fs'

import { afterAll, describe, expect, it } from 'vitest'
import { parse, parseAllDocuments } from 'yaml'
import { z } from 'zod'

import { findProgram, runProgram } from '../support/find-program.js'
import { validateResource } from '../support/kubernetes.js'
import { PROJECT_ROOT } from '../support/project-root.js'
import { runTidegate } from '../support/run-tidegate.js'
import { makeWorkspace } from '../support/workspace.js'

const CHART = 'build/chart/tidegate'
/** Without a cluster, a helm that was built from its sources assumes an old version. */
const KUBERNETES = '1.31.0'
const helm = findProgram('helm')
const readText = (path: string): string => readFileSync(join(PROJECT_ROOT, path), 'utf8')
const { version } = JSON.parse(readText('package.json')) as { version: string }

const TOKEN = { name: 'orca', roles: ['orchestrator'], sha256: 'a'.repeat(64) }
const Resource = z
  .object({ apiVersion: z.string(), kind: z.string(), metadata: z.object({ name: z.string() }) })
  .loose()

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

  /** Renders the chart, and validates every resource by the schemas of Kubernetes. */
  const resourcesFrom = (values: object): z.infer<typeof Resource>[] => {
    const { succeeded, output } = render(values)
    expect(succeeded ? '' : output).toBe('')
    const resources = resourcesOf(output)
    for (const resource of resources) validateResource(resource)
    return resources
  }
  const kindsOf = (values: object): string[] => resourcesFrom(values).map(({ kind }) => kind)
  const deploymentOf = (values: object): unknown =>
    resourcesFrom(values).find(({ kind }) => kind === 'Deployment')

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
    for (const resource of resources) validateResource(resource)
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

  const shared = { store: { url: 'postgres://tidegate@db/tidegate' } }
  const auth = { tokens: [TOKEN] }

  it('replaces one pod after the other if the records are in a database', () => {
    expect(deploymentOf({ auth, config: shared, replicas: 3 })).toMatchObject({
      spec: {
        replicas: 3,
        strategy: { type: 'RollingUpdate', rollingUpdate: { maxUnavailable: 0 } },
        template: {
          spec: { volumes: [{}, {}, { name: 'data', ephemeral: { volumeClaimTemplate: {} } }] },
        },
      },
    })
    expect(kindsOf({ auth, config: shared })).not.toContain('PersistentVolumeClaim')
    expect(deploymentOf({ auth })).toMatchObject({ spec: { replicas: 1, strategy: { type: 'Recreate' } } })
  })

  it.each([[{ replicas: 2 }], [{ autoscaling: { enabled: true } }]])(
    'refuses several pods without a database: %j',
    (values) => {
      expect(render({ auth, ...values }).output).toContain('several pods need a PostgreSQL database')
    },
  )

  it('refuses a claim of one pod for several', () => {
    const values = { auth, config: shared, replicas: 2, persistence: { existingClaim: 'own' } }
    expect(render(values).output).toContain('each pod needs a volume of its own')
  })

  it('scales by load, and leaves the number of pods to that', () => {
    const values = { auth, config: shared, autoscaling: { enabled: true, maxReplicas: 9 } }
    const resources = resourcesFrom(values)
    expect(resources.find(({ kind }) => kind === 'HorizontalPodAutoscaler')).toMatchObject({
      spec: { scaleTargetRef: { kind: 'Deployment', name: 'tg-tidegate' }, minReplicas: 2, maxReplicas: 9 },
    })
    expect(deploymentOf(values)).not.toHaveProperty('spec.replicas')
  })

  it('has an ingress on request, with TLS', () => {
    const ingress = { enabled: true, host: 'tidegate.example.org', className: 'nginx', tlsSecretName: 'web' }
    expect(resourcesFrom({ auth, ingress }).find(({ kind }) => kind === 'Ingress')).toMatchObject({
      spec: {
        ingressClassName: 'nginx',
        tls: [{ secretName: 'web', hosts: ['tidegate.example.org'] }],
        rules: [{ host: 'tidegate.example.org' }],
      },
    })
    expect(kindsOf({ auth })).not.toContain('Ingress')
    expect(render({ auth, ingress: { enabled: true } }).output).toContain('set ingress.host')
  })

  it('restarts for a change of the configuration, and not for one of policies, which are watched', () => {
    const checksum = (values: object): unknown =>
      z
        .object({
          spec: z.object({
            template: z.object({ metadata: z.object({ annotations: z.record(z.string(), z.string()) }) }),
          }),
        })
        .parse(deploymentOf({ auth, ...values })).spec.template.metadata.annotations['checksum/config']
    const policies = { 'a.rego': 'package a' }
    expect(checksum({ policies })).toBe(checksum({ policies: { 'a.rego': 'package b' } }))
    expect(checksum({ policies, config: { log: { level: 'warn' } } })).not.toBe(checksum({ policies }))
    expect(render({ auth, policies }).output).toContain('watch: true')
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

describe('the sidecar for Kustomize', () => {
  const folder = 'build/kubernetes/sidecar'

  it('is a container and volumes that Kubernetes takes in a deployment', () => {
    const patch = z
      .object({
        kind: z.string(),
        apiVersion: z.string(),
        spec: z.object({ template: z.object({ spec: z.looseObject({}) }) }),
      })
      .loose()
      .parse(parse(readText(`${folder}/sidecar.yaml`)))
    const labels = { app: 'orca' }
    const template = { metadata: { labels }, spec: patch.spec.template.spec }
    validateResource({ ...patch, spec: { selector: { matchLabels: labels }, template } } as never)
    expect(readText(`${folder}/sidecar.yaml`)).toContain(`image: tidegate:${version}`)
  })

  it('has a configuration and policies that the program takes', async () => {
    const config = await runTidegate(['config', '--config', `${folder}/tidegate.yaml`], { cwd: PROJECT_ROOT })
    expect(config).toMatchObject({ exitCode: 0, stderr: '' })
    const check = await runTidegate(['eval', '--policies', `${folder}/policies`, 'data.static.wait.deny'], {
      cwd: PROJECT_ROOT,
    })
    expect(check).toMatchObject({ exitCode: 0 })
  })
})
