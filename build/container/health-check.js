/** Ends with 0 when the service on this machine answers that it is healthy; an image without a shell has no curl. */
import http from 'node:http'
import https from 'node:https'
import process from 'node:process'

const port = process.env.TIDEGATE_SERVER_ADDR?.split(':').at(-1) ?? '8181'
// It asks itself: the names of its certificate are those that others ask for.
const options = { host: '127.0.0.1', port, path: '/health', timeout: 2000, rejectUnauthorized: false }

/** Resolves with whether the answer says healthy; rejects where there is none. */
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

// What speaks TLS answers plain HTTP with nothing that could be read.
const isHealthy = await ask(http).catch(() => ask(https).catch(() => false))
process.exitCode = isHealthy ? 0 : 1
