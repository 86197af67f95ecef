# Two stages: what builds stays behind. Serve, with a first key that is printed once:
# docker run -p 8080:8080 -v runhold:/data -e RUNHOLD_BOOTSTRAP_KEY=print IMAGE
# The schema is brought up to date by a command of its own, before the service starts: docker run ... IMAGE migrate
ARG PYTHON_VERSION=3.13

FROM python:${PYTHON_VERSION}-slim AS build
WORKDIR /src
COPY requirements/build.txt requirements/run.txt requirements/
RUN python -m venv /opt/build \
    && /opt/build/bin/python -m pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes -r requirements/build.txt
RUN python -m venv /opt/runhold \
    && /opt/runhold/bin/python -m pip install --no-cache-dir --no-deps --only-binary :all: --require-hashes -r requirements/run.txt
COPY CHANGELOG.md LICENSE README.md pyproject.toml ./
COPY app app
COPY client client
COPY migrations migrations
RUN /opt/build/bin/python -m hatchling build -t wheel -d /src/wheels
WORKDIR /src/client
RUN /opt/build/bin/python -m hatchling build -t wheel -d /src/wheels
WORKDIR /src/wheels
RUN /opt/runhold/bin/python -m pip install --no-cache-dir --no-deps --no-index ./*.whl \
    && /opt/runhold/bin/python -m pip check \
    && /opt/runhold/bin/python -m pip uninstall --yes pip

FROM python:${PYTHON_VERSION}-slim
RUN groupadd --gid 10001 runhold \
    && useradd --uid 10001 --gid 10001 --no-create-home --home-dir /data --shell /usr/sbin/nologin runhold \
    && install -d -o 10001 -g 10001 /data
COPY --from=build /opt/runhold /opt/runhold
ENV PATH=/opt/runhold/bin:$PATH \
    PYTHONUNBUFFERED=1 \
    RUNHOLD_DATABASE_URL=sqlite:////data/runhold.db \
    RUNHOLD_HOST=0.0.0.0 \
    RUNHOLD_PORT=8080
WORKDIR /data
VOLUME /data
USER 10001:10001
EXPOSE 8080
# The process alone, not its database: starting the service anew would not mend that.
HEALTHCHECK --interval=10s --timeout=3s --start-period=15s --retries=3 \
    CMD ["python", "-c", "import http.client, os, sys; c = http.client.HTTPConnection('127.0.0.1', int(os.environ['RUNHOLD_PORT']), timeout=2); c.request('GET', '/livez'); sys.exit(c.getresponse().status != 200)"]
ENTRYPOINT ["runhold"]
CMD ["serve"]
