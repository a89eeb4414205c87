// The bloom commands of the unmodified npm client, in RESP2 and RESP3, on one server and on a cluster.
//
//   node npm_client.mjs FOLDER PORT CLUSTER_PORT      FOLDER has node_modules/redis
import assert from 'node:assert/strict';
import { createRequire } from 'node:module';

const [folder, port, clusterPort] = process.argv.slice(2);
const { createClient, createCluster, RESP_TYPES } = createRequire(`${folder}/`)('redis');

async function everyCommand(client, name) {
  // Before client.bf is used: version 5 of the client would give that one again, with texts for bytes.
  const withBuffers = client.withTypeMapping({ [RESP_TYPES.BLOB_STRING]: Buffer }).bf;
  const key = (what) => `${name} ${what}`;
  assert.equal(await client.bf.reserve(key('k'), 0.01, 1000), 'OK');
  assert.equal(await client.bf.reserve(key('e'), 0.01, 1000, { EXPANSION: 4 }), 'OK');
  assert.equal(await client.bf.reserve(key('n'), 0.01, 2, { NONSCALING: true }), 'OK');
  await assert.rejects(client.bf.reserve(key('k'), 0.01, 1000), /item exists/);
  assert.equal(await client.bf.add(key('k'), 'a'), true);
  assert.equal(await client.bf.add(key('k'), 'a'), false);
  assert.deepEqual(await client.bf.mAdd(key('k'), ['a', 'b']), [false, true]);
  assert.equal(await client.bf.exists(key('k'), 'a'), true);
  assert.equal(await client.bf.exists(key('nobody'), 'a'), false);
  assert.deepEqual(await client.bf.mExists(key('k'), ['a', 'z', 'b']), [true, false, true]);
  assert.equal(await client.bf.card(key('k')), 2);
  assert.deepEqual(await client.bf.insert(key('i'), ['x', 'y'], { CAPACITY: 500, ERROR: 0.001, EXPANSION: 3 }), [true, true]);
  await assert.rejects(client.bf.insert(key('nobody'), ['x'], { NOCREATE: true }), /not found/);
  await client.bf.mAdd(key('n'), ['1', '2']);
  await assert.rejects(client.bf.add(key('n'), '3'), /non scaling filter is full/);
  const info = await client.bf.info(key('k'));
  assert.equal(info['Capacity'], 1000);
  assert.equal(info['Number of filters'], 1);
  assert.equal(info['Number of items inserted'], 2);
  assert.equal(info['Expansion rate'], 2);
  for (let iterator = 0; ;) {
    const { iterator: next, chunk } = await withBuffers.scanDump(key('k'), iterator);
    if (next === 0) break;
    assert.equal(await client.bf.loadChunk(key('again'), next, chunk), 'OK');
    iterator = next;
  }
  assert.deepEqual(await client.bf.mExists(key('again'), ['a', 'z', 'b']), [true, false, true]);
}

for (const RESP of [2, 3]) {
  const client = createClient({ RESP, socket: { host: '127.0.0.1', port: Number(port) } });
  client.on('error', (error) => { throw error; });
  await client.connect();
  await everyCommand(client, `one RESP${RESP}`);
  await client.close();
  if (clusterPort === undefined) continue;
  const cluster = createCluster({ RESP, rootNodes: [{ socket: { host: '127.0.0.1', port: Number(clusterPort) } }] });
  cluster.on('error', (error) => { throw error; });
  await cluster.connect();
  await everyCommand(cluster, `cluster RESP${RESP}`);
  await cluster.close();
}
console.log('every command answered as it should');
