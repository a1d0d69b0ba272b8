# The lab as an image: the packages of requirements.lock by their hashes, no compiler, no root.
#
#   docker build -t inside-bert .
#   docker run --rm -p 8501:8501 inside-bert
#
# On Linux pip takes PyTorch with CUDA, gigabytes the lab does not use. With the address of PyTorch's
# index of CPU builds the same pin takes the small one:
#
#   docker build -t inside-bert --build-arg PIP_EXTRA_INDEX_URL=<that address> .

FROM python:3.12-slim AS build
ARG PIP_EXTRA_INDEX_URL=""
COPY requirements.txt requirements.lock ./
RUN python -m venv /opt/venv && /opt/venv/bin/pip install --no-cache-dir --require-hashes -r requirements.lock && \
    /opt/venv/bin/pip install --no-cache-dir "$(grep '^torch==' requirements.txt)"

FROM python:3.12-slim
RUN useradd --uid 10001 --create-home learner
COPY --from=build /opt/venv /opt/venv
WORKDIR /lab
COPY Home.py LICENSE ./
COPY .streamlit/config.toml .streamlit/config.toml
COPY pages pages
COPY lab lab
# Compiled here, because the one who runs the lab may not write here.
RUN /opt/venv/bin/python -m compileall -q Home.py pages lab
USER learner
ENV PYTHONUNBUFFERED=1 OMP_NUM_THREADS=1
EXPOSE 8501
HEALTHCHECK --start-period=20s --interval=15s --timeout=8s --retries=3 CMD ["/opt/venv/bin/python", "-m", "lab.ready", "http://127.0.0.1:8501"]
# The server loads PyTorch, the model and the tagger before anybody comes.
CMD ["/bin/sh", "-c", "/opt/venv/bin/python -m lab.first_visit http://127.0.0.1:8501 & exec /opt/venv/bin/python -m lab --address 0.0.0.0 --port 8501 --no-browser"]
