/**
 * `make release`: packs the npm package into dist-release/, and checks it, the bill of materials,
 * the chart and the image recipe. Prints every problem and exits with 1 if there is one.
 */
import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, readFileSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import process from 'node:process'
import { parse } from 'yaml'

const ROOT = join(import.meta.dirname, '../..')
const OUT = join(ROOT, 'dist-release')
const CHART = 'build/chart/tidegate'
/** Files without which an installed package does not work. */
const REQUIRED = [
  'dist/cli.js',
  'dist/sbom.cdx.json',
  'dist/THIRD-PARTY-LICENSES.txt',
  'policies/data.json',
  'schemas/static.json',
  'docs/README.md',
  'build/container/health-check.js',
  'build/systemd/tidegate.service',
  'LICENSE',
  'README.md',
  'CHANGELOG.md',
]
const FORBIDDEN =
  /\.map$|\.tsx?$|\.tsbuildinfo$|^(?:src|bench)\/|^test\/(?!cases\/)|(?:^|\/)\.env|\.(?:pem|key)$/
/** A token with which the chart can be rendered. */
const TOKENS = '[{"name":"ci","roles":["orchestrator"],"sha256":"' + '0'.repeat(64) + '"}]'

const read = (path) => readFileSync(join(ROOT, path), 'utf8')
const manifest = JSON.parse(read('package.json'))
const { version } = manifest
const problems = []
const check = (isRight, problem) => {
  if (!isRight) problems.push(problem)
}
const run = (program, args) => execFileSync(program, args, { cwd: ROOT, encoding: 'utf8' })
const isInstalled = (program) => {
  try {
    execFileSync('sh', ['-c', `command -v ${program}`], { stdio: 'ignore' })
    return true
  } catch {
    return false
  }
}

function checkPackage() {
  check(manifest.private === undefined, 'package.json: private is set')
  check(read('CHANGELOG.md').includes(`\n## ${version}\n`), `CHANGELOG.md: there is no section ${version}`)
  rmSync(OUT, { recursive: true, force: true })
  mkdirSync(OUT)
  const [packed] = JSON.parse(run('npm', ['pack', '--ignore-scripts', '--json', '--pack-destination', OUT]))
  const files = packed.files.map(({ path }) => path)
  for (const file of REQUIRED) check(files.includes(file), `package: ${file} is missing`)
  for (const file of files) check(!FORBIDDEN.test(file), `package: ${file} does not belong into it`)
  const lock = JSON.parse(read('package-lock.json'))
  check(lock.version === version, `package-lock.json: its version is ${lock.version}, not ${version}`)
  check(!read('package-lock.json').includes('"resolved"'), 'package-lock.json: it records download addresses')
  return `${join('dist-release', packed.filename)}: ${files.length} files, ${packed.size} bytes`
}

function checkBill() {
  const bill = JSON.parse(read('dist/sbom.cdx.json'))
  check(bill.bomFormat === 'CycloneDX', 'dist/sbom.cdx.json: it is no CycloneDX document')
  check(bill.metadata?.component?.version === version, `dist/sbom.cdx.json: it is not of version ${version}`)
  const named = new Set(bill.components.map(({ name }) => name))
  for (const name of Object.keys(manifest.dependencies))
    check(named.has(name), `dist/sbom.cdx.json: ${name} is missing`)
  return `dist/sbom.cdx.json: ${bill.components.length} components`
}

function checkChart() {
  const chart = parse(read(`${CHART}/Chart.yaml`))
  for (const key of ['version', 'appVersion'])
    check(chart[key] === version, `${CHART}/Chart.yaml: ${key} is ${chart[key]}, not ${version}`)
  check(parse(read(`${CHART}/values.yaml`)) !== null, `${CHART}/values.yaml: it is empty`)
  check(
    read(`${CHART}/alerts.yaml`) === read('build/monitoring/alerts.yaml'),
    'chart: other alerts than in build/monitoring',
  )
  if (!isInstalled('helm')) return `${CHART}: checked without helm, which is not installed`
  run('helm', ['lint', CHART, '--set-json', `auth.tokens=${TOKENS}`])
  run('helm', ['package', CHART, '--destination', join(OUT, 'chart')])
  return join('dist-release/chart', `tidegate-${version}.tgz`)
}

function checkImage() {
  const recipe = read('build/container/Containerfile')
  const major = Number(/NODE_VERSION=(\d+)/.exec(recipe)?.[1])
  const oldest = Number(/\d+/.exec(manifest.engines.node)?.[0])
  check(major >= oldest, `Containerfile: Node.js ${major} is older than ${manifest.engines.node}`)
  check(/^USER \d+:\d+$/m.test(recipe), 'Containerfile: it runs as root')
  for (const [, path] of recipe.matchAll(/\/opt\/tidegate\/((?:build|dist)\/[\w./-]+\.js)/g))
    check(existsSync(join(ROOT, path)), `Containerfile: ${path} is not there`)
  return 'build/container/Containerfile: build it with podman build -f build/container/Containerfile -t tidegate .'
}

for (const step of [checkPackage, checkBill, checkChart, checkImage]) {
  try {
    process.stdout.write(`${step()}\n`)
  } catch (error) {
    problems.push(`${step.name}: ${error.message}`)
  }
}
for (const problem of problems) process.stderr.write(`problem: ${problem}\n`)
process.exitCode = problems.length === 0 ? 0 : 1
