# The daemon as a container: not root, and the root file system may be read-only. State is in /var/lib/octavo.

FROM node:24-slim AS build
WORKDIR /build
COPY package.json package-lock.json ./
RUN npm ci
COPY tsconfig.json ./
COPY bin/source.js ./bin/source.js
COPY scripts ./scripts
COPY src ./src
RUN npm run build

# Without what only development needs, above all without Node as a package: the image has its own.
FROM node:24-slim AS production
WORKDIR /production
COPY package.json package-lock.json ./
RUN npm ci --omit=dev

FROM node:24-slim
RUN apt-get update \
  && apt-get install --yes --no-install-recommends ca-certificates git openssh-client \
  && rm -rf /var/lib/apt/lists/* \
  && install --directory --owner=node --group=node /var/lib/octavo /etc/octavo
WORKDIR /opt/octavo
COPY package.json config.example.yaml LICENSE ./
COPY bin ./bin
COPY examples/acme ./examples/acme
COPY examples/tickets ./examples/tickets
COPY examples/pull-request ./examples/pull-request
COPY --from=production /production/node_modules ./node_modules
COPY --from=build /build/dist ./dist
RUN ln -s /opt/octavo/bin/octavo.js /usr/local/bin/octavo

LABEL org.opencontainers.image.title="Octavo" \
  org.opencontainers.image.description="GitOps for a documentation platform" \
  org.opencontainers.image.licenses="Apache-2.0"

ENV NODE_ENV=production HOME=/tmp
USER node
WORKDIR /var/lib/octavo
VOLUME ["/var/lib/octavo"]
EXPOSE 8080
HEALTHCHECK --interval=30s --timeout=5s --start-period=20s --retries=3 \
  CMD ["octavo", "health", "--config", "/etc/octavo/config.yaml"]
ENTRYPOINT ["octavo"]
CMD ["run", "--config", "/etc/octavo/config.yaml"]
