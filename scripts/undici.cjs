/**
 * The part of undici that the source uses, for the build. Its own entry loads a hundred files with every feature, which
 * takes longer than a plan of 500 resources.
 */
'use strict';
const Dispatcher = require('undici/lib/dispatcher/dispatcher.js');

Object.assign(Dispatcher.prototype, require('undici/lib/api/index.js'));

exports.Client = require('undici/lib/dispatcher/client.js');
exports.Pool = require('undici/lib/dispatcher/pool.js');
exports.errors = require('undici/lib/core/errors.js');

// Needed only where there is a proxy.
Object.defineProperty(exports, 'EnvHttpProxyAgent', {
  enumerable: true,
  get: () => require('undici/lib/dispatcher/env-http-proxy-agent.js'),
});
exports.setGlobalDispatcher = (dispatcher) => require('undici/lib/global.js').setGlobalDispatcher(dispatcher);
