/**
 * Exits with 0 if the service on this machine reports that it is healthy, because an image without
 * a shell has no curl. The address is HEALTH_CHECK_ADDR in the form of `server.addr`, else the one
 * for health in TIDEGATE_SERVER_ADDRESSES, else TIDEGATE_SERVER_ADDR.
 */
import http from 'node:http'
import https from 'node:https'
import process from 'node:process'

const { HEALTH_CHECK_ADDR, TIDEGATE_SERVER_ADDR, TIDEGATE_SERVER_ADDRESSES } = process.env
const address = HEALTH_CHECK_ADDR || addressForHealth() || TIDEGATE_SERVER_ADDR || '8181'
const place = address.startsWith('unix:')
  ? { socketPath: address.slice('unix:'.length) }
  : { host: '127.0.0.1', port: address.split(':').at(-1) }
// Its certificate is for external names, so it is not verified here.
const options = { ...place, path: '/health', timeout: 2000, rejectUnauthorized: false }

function addressForHealth() {
  if (!TIDEGATE_SERVER_ADDRESSES?.trimStart().startsWith('[')) return undefined
  return JSON.parse(TIDEGATE_SERVER_ADDRESSES).find(({ serves }) => serves === 'health')?.addr
}

/** Resolves with whether the service is healthy. Rejects if it does not answer. */
function ask({ get }) {
  return new Promise((resolve, reject) => {
    get(options, (response) => {
      resolve(response.statusCode === 200)
      response.resume()
    })
      .on('timeout', function () {
        this.destroy(new Error('no answer'))
      })
      .on('error', reject)
  })
}

// A TLS port answers plain HTTP with bytes that cannot be parsed.
const isHealthy = await ask(http).catch(() => ask(https).catch(explain))
process.exitCode = isHealthy ? 0 : 1

function explain({ message }) {
  const advice =
    'where callers need a certificate, set HEALTH_CHECK_ADDR to one of server.addresses that serves health'
  process.stderr.write(`${address}: ${message}; ${advice}\n`)
  return false
}
